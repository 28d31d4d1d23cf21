-- CLAIM: a worker's name, in shard 0. ARGV 5 enter | beat | leave  6 name  7 token of the process  8 life (ms)
-- 9 token of a process of this name that is certainly gone, '*' = whichever had it, '' = none
-- workers ZSET name -> end of the claim; claims HASH name -> token:last seen. How long workers lived and how many died is what
-- a page is judged by that was in hand when some did (common.lua, suspects).
-- Returns {1 = it is this process's, remaining (ms) and last sign of life (ms) of who has it otherwise, deaths, ms lived}.
local WORKERS, CLAIMS = P .. 'workers', P .. 'claims'
local what, name, token, life, gone = ARGV[5], ARGV[6], ARGV[7], num(ARGV[8]), ARGV[9]
local function let_go(worker)
  call('ZREM', WORKERS, worker)
  call('HDEL', CLAIMS, worker)
end
local function answer(ours, remaining, seen)
  save()
  return {ours, remaining, seen, math.max(0, stat('deaths') - stat('alone')), stat('lived')}
end
local holder, seen = match(call('HGET', CLAIMS, name) or '', '^(.*):(%d+)$')
for _, silent in ipairs(call('ZRANGEBYSCORE', WORKERS, '-inf', now, 'LIMIT', 0, 100)) do
  if silent ~= name or holder ~= token then  -- who asks lives
    let_go(silent)
    count('deaths', 1)
    if silent == name then holder = nil end
  end
end
if holder and holder ~= token then
  if what ~= 'enter' or gone ~= '*' and gone ~= holder then
    return answer(0, num(call('ZSCORE', WORKERS, name)) - now, num(seen))
  end
  count('deaths', 1)
elseif holder then
  count('lived', math.max(0, now - num(seen)))
end
if what == 'leave' then
  let_go(name)
else
  call('HSET', CLAIMS, name, token .. ':' .. integer(now))
  call('ZADD', WORKERS, now + life, name)
end
return answer(1, 0, 0)
