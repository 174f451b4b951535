"""The figures of docs/performance.md: definitions (parts*.py), runs and readers (run.py, readers.py), storage (stored.py), and display
(page.py, picture.py). `scripts/bench` is the command."""
