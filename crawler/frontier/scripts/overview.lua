-- OVERVIEW: how scopes stand. ARGV 5.. : scopes. Reads only.
-- Returns per scope: queued, requests under way, next allowed time (ms or 0), own delay (ms or 0), ready since (ms or 0), blocked
-- until (ms or 0), why, paused (1|0), done, failed, parked.
local names, out = {}, {}
for i = 5, #ARGV do names[#names + 1] = ARGV[i] end
if #names == 0 then return out end
load(names)
local keys = {}
for i, name in ipairs(names) do keys[i] = name .. '\t' end
local why, blocked = call('HMGET', WHY, unpack(keys)), call('ZMSCORE', WAIT, unpack(names))
local paused, spilled = call('HMGET', P .. 'paused', unpack(names)), call('HMGET', P .. 'spilled', unpack(names))
local own, limited = special(OWN, names), call('HMGET', LIMITED, unpack(names))
local done, failed = call('HMGET', P .. 'done', unpack(names)), call('HMGET', P .. 'failed', unpack(names))
local barren = call('HMGET', P .. 'barren', unpack(names))
for i, name in ipairs(names) do
  local s = scopes[name]
  local shut = num(blocked[i] or 0)
  shut = shut > now and shut or 0
  out[i] = {call('ZCARD', queue(name)) + num(spilled[i] or 0), s.busy, s.next, math.max(num(own[i] or 0), s.slow), s.ready or 0, shut,
            shut > 0 and why[i] or '', paused[i] and not limited[i] and 1 or 0, num(done[i] or 0), num(failed[i] or 0), num(barren[i] or 0)}
end
return out
