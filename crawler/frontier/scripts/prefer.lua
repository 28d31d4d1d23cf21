-- PREFER: scopes that are asked before others when their turn has come. ARGV 5 scope  6 priority, 0 = as any other
if num(ARGV[6]) > 0 then call('ZADD', PREFERRED, ARGV[6], ARGV[5]) else call('ZREM', PREFERRED, ARGV[5]) end
call('HSET', ST, 'preferred', call('ZCARD', PREFERRED))
return 1
