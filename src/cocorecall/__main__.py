"""`python -m cocorecall`: the command line."""

from cocorecall.cli import main

if __name__ == "__main__":
    main()
