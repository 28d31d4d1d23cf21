-- STATUS: ARGV 5 patience (ms). Returns the totals of this shard.
return totals(num(ARGV[5]))
