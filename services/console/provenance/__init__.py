"""Where a public item comes from: who proposed it, in which conversation, who let it out, its receipt, its way, what came back."""
