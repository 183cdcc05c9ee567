"""Behavior and virtual tools: what an owner taught the agent."""
