"""The figures of docs/performance.md: what is measured (parts*.py), how it is run and read (run.py, readers.py), what is kept of it
(stored.py), and how it is shown (page.py, picture.py). `scripts/bench` is the command."""
