/*
One row per agent whose history can be read: what it is called, and what it gives.

grain   source
why     Adapters say it of themselves, whether or not anything of theirs is on this disk.
*/
select source, display_name, icon, stores, gives from meta.sources
