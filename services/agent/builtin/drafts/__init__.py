"""What the built-in model understands of proposals to the console: cleanup jobs, apps of tables, columns, rows."""
