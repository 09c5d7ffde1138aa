"""`python -m polyc` is `polyc`."""

from polyc.cli.main import main

if __name__ == "__main__":
    main()
