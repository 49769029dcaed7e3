// Nothing to import: the driver is only linked.
