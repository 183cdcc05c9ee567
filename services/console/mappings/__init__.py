"""From records to a page: a mapping picks shareable columns and a template; what comes of it waits in the queue like anything else."""
