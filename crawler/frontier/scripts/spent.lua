-- SPENT: what was spent is at least this: a run without limits has counted nothing here. In the shard of its owner.
-- ARGV 5 name of the hash  6.. : (field, value, 1 = only where nothing is counted yet)*.
local key = P .. ARGV[5]
for i = 6, #ARGV, 3 do
  local known = call('HGET', key, ARGV[i])
  if not known or ARGV[i + 2] == '0' and num(known) < num(ARGV[i + 1]) then call('HSET', key, ARGV[i], ARGV[i + 1]) end
end
return 1
