"""Starting, queueing and stopping workers; the run folder is the only channel to them."""
