"""Whether those that the connectors lead to answer: asked now and then, and told when the answer is another one."""
