-- Scopes that nobody asks until they are resumed. paused HASH scope -> block that was there before \t why; limited HASH
-- scope -> the limit of FRONTIER_BUDGET that stopped it, where no person did (budget.lua).
local PAUSED = P .. 'paused'
local function pause(scope, why)
  call('HSET', PAUSED, scope, (call('ZSCORE', WAIT, scope) or '0') .. '\t' .. (call('HGET', WHY, scope .. '\t') or ''))
  not_before(state(scope), FOREVER)
  call('ZADD', WAIT, FOREVER, scope)
  call('HSET', WHY, scope .. '\t', why)
end
-- A block that was there before holds again, for as long as it still lasts.
local function resume(scope, record)
  call('HDEL', PAUSED, scope)
  local before, why = match(record, '^([^\t]*)\t(.*)$')
  before = num(before)
  local s = state(scope)
  local forever = call('ZSCORE', WAIT, scope)
  s.next, s.ready = math.max(now + s.delay, before), nil
  if before > now then
    call('ZADD', WAIT, before, scope)
    call('HSET', WHY, scope .. '\t', why)
  else
    call('ZREM', WAIT, scope)
    call('HDEL', WHY, scope .. '\t')
  end
  if forever then  -- what was put back until the end of the pause
    local mine = {}
    for _, entry in ipairs(call('ZRANGEBYSCORE', LATER, forever, '+inf')) do
      if sub(entry, 1, #scope + 1) == scope .. '\t' then mine[#mine + 1] = entry end
    end
    unpark(LATER, mine)
  end
end
