"""The same run, shown: text, JSON, DOT and isl's own notation."""
