"""The lock as the call audit's witness: it countersigns the connectors' checkpoints and keeps them, so that a cut or rewritten audit contradicts it."""
