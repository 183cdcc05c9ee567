"""The example page that waits in the queue of a new console."""

EXAMPLE = """\
# Welcome to the public side

This page was put into the queue by the installation. It is public now because **a person approved it** in the console:
nothing gets here in any other way.

## What just happened

1. The page was handed to the lock, which inspected it.
2. It waited in the queue until somebody looked.
3. The approval was signed for exactly these words, checked by the lock, and signed once more.
4. This site verified both signatures before it showed the page.

| Side | Who reads it | What is there |
| --- | --- | --- |
| inside | staff | everything |
| outside | everyone | what was approved |

!!! note
    Change one letter and it is a new revision, which waits for a person again.

Below you can say whether the page was helpful. Your vote goes back inside through the same lock.
"""
