-- ADDRESS: requests to one address keep their distance, whatever their domains. KEYS[1] is the prefix of the shard of the
-- addresses asked about. ARGV 5 how long a request may be under way (ms)
-- 6.. : (what, address, delay (ms), who, slot, within (ms), most at a time or 0)*
-- what: line = a connection is to be made: who = its scope; send = a request is to be written: who = its name, slot = the
-- latest slot it was granted; over = it is over, slot = how long the address rests (ms).
-- Returns per row: when (ms), and the slot that follows it; 0 where nothing is granted: ask again then.
-- asked ZSET address -> next allowed time; line ZSET address -> when the next one may come who has not stood in it yet;
-- places ZSET address \t scope -> when it may come; under:<address> ZSET name of a request under way -> until when at most.
local ASKED, LINE, PLACES, UNDER, KEPT = P .. 'asked', P .. 'line', P .. 'places', P .. 'under:', 60000
local function score(key, member) return num(call('ZSCORE', key, member) or 0) end
-- Who has a place keeps it. Who has none gets the one behind the last.
local function stand_in_line(address, delay, who, within)
  local place, free = address .. '\t' .. who, math.max(now, score(ASKED, address))
  local had = call('ZSCORE', PLACES, place)
  local at = had and math.max(free, num(had)) or math.max(free, score(LINE, address))
  if not had then call('ZADD', LINE, at + delay, address) end
  if at - now > within then
    call('ZADD', PLACES, at, place)
    return {at, 0}
  end
  if had then call('ZREM', PLACES, place) end
  return {at, at}
end
local function is_full(address, who, most)
  if most == 0 then return false end
  call('ZREMRANGEBYSCORE', UNDER .. address, '-inf', ARGV[1])
  return call('ZCARD', UNDER .. address) >= most and not call('ZSCORE', UNDER .. address, who)
end
local function send(address, delay, who, slot, within, most)
  local free = score(ASKED, address)
  local at = (free <= now or free == slot) and now or free
  if is_full(address, who, most) then return {math.max(at, now + 50), 0} end
  if at - now > within then return {at, 0} end
  call('ZADD', ASKED, at + delay, address)
  call('ZADD', LINE, 'GT', at + delay, address)
  if most > 0 then
    call('ZADD', UNDER .. address, at + num(ARGV[5]), who)
    call('PEXPIRE', UNDER .. address, integer(at - now + num(ARGV[5])))
  end
  return {at, at + delay}
end
local answers = {}
for i = 6, #ARGV, 7 do
  local what, address, delay, who = ARGV[i], ARGV[i + 1], num(ARGV[i + 2]), ARGV[i + 3]
  local slot, within, most = num(ARGV[i + 4]), num(ARGV[i + 5]), num(ARGV[i + 6])
  if what == 'line' then
    answers[#answers + 1] = stand_in_line(address, delay, who, within)
  elseif what == 'send' then
    answers[#answers + 1] = send(address, delay, who, slot, within, most)
  else
    if call('ZREM', UNDER .. address, who) == 1 and slot > 0 then call('ZADD', ASKED, 'GT', now + slot, address) end
    answers[#answers + 1] = {now, 0}
  end
end
for _, key in ipairs({ASKED, LINE}) do call('ZREMRANGEBYSCORE', key, '-inf', ARGV[1]) end
call('ZREMRANGEBYSCORE', PLACES, '-inf', integer(now - KEPT))
return answers
