-- UNPURGE: a purged scope takes new URLs again. ARGV 5 scope. Returns 1, 0 = it was not purged.
return call('SREM', PURGED, ARGV[5])
