"""The leak guard's side in the console: fingerprints of internal columns' values follow every change and go to the lock (S14)."""
