"""Programs that a generator makes, compiled under options drawn at random, against gcc -O0 of the original."""
