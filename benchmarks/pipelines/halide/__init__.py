"""The pipelines of ../arrays written for Halide: the same values from Funcs, with our schedules or with found ones."""
