-- What is remembered of a finished URL until its next visit; stands in front of ack, adopt, recall, sweep and hasten.
-- v:<n> HASH url hash -> state, length of the visit (2 bytes), visit, scope \t member. state: d = done, waits for its
-- time; p = in play: queued, leased, held or dead. A linear hash table like the seen-set's, of small hashes.
-- due ZSET n -> a time (ms) before which no URL of hash n is due. parked (in st) counts the URLs in state d.
local DUE = P .. 'due'
local visits, splits, size
local function vkey(n) return P .. 'v:' .. integer(n) end
local function measure()
  local found = call('HMGET', ST, 'visits', 'splits')
  visits, splits, size = num(found[1] or 0), num(found[2] or 0), 1
  while size * 2 <= splits + 1 do size = size * 2 end
end
local function vhome(hash)
  if not visits then measure() end
  local v = num(string.sub(hash, -9))
  local n = v % (2 * size)
  if n > splits then n = v % size end
  return n
end
-- As long as a hash has at most 128 fields (and the server's hash-max-listpack-value admits them) it is one dense
-- block; half as many on average leave room for the uneven ones.
local function split_visits()
  local old, new = splits + 1 - size, splits + 1
  splits = new
  local all, moved, names = call('HGETALL', vkey(old)), {}, {}
  for i = 1, #all, 2 do
    if num(string.sub(all[i], -9)) % (2 * size) == new then
      moved[#moved + 1], moved[#moved + 2], names[#names + 1] = all[i], all[i + 1], all[i]
    end
  end
  if #names > 0 then
    call('HSET', vkey(new), unpack(moved))
    call('HDEL', vkey(old), unpack(names))
    local at = call('ZSCORE', DUE, old)
    if at then call('ZADD', DUE, at, new) end
  end
  if splits + 1 == 2 * size then size = splits + 1 end
  count('splits', 1)
end

-- first interval, shortest, longest (s) as the last sweep had them; false before the first one
local plan
local function due_at(visit, rest)
  if plan == nil then
    local a, b, c = string.match(call('HGET', ST, 'recrawl') or '', '^(%S+) (%S+) (%S+)$')
    plan = a and {num(a), num(b), num(c)} or false
  end
  if not plan then return 0 end
  local fetched, step = struct.unpack('>I4i1', visit)
  local wait = plan[2]  -- a sitemap is looked at as often as the fastest page
  if byte(rest, KIND_AT) ~= SITEMAP then wait = math.min(math.max(plan[1] * 1.5 ^ step, plan[2]), plan[3]) end
  return (fetched + wait) * 1000
end

local function open_visit(entry)
  local n = struct.unpack('>I2', entry, 2)
  local scope, rest = string.match(string.sub(entry, 4 + n), '^([^\t]*)\t(.*)$')
  return string.byte(entry) == 100, string.sub(entry, 4, 3 + n), scope, rest
end
-- A URL that was visited before does not die of an outage: it waits for its next visit.
local function is_remembered(text)
  local hash = string.match(text, '^(%d+)\t')
  return hash and call('HEXISTS', vkey(vhome(hash)), hash) == 1
end
-- The URL is done and waits for its next visit. text: url hash \t visit
local function remember(text, scope, rest)
  local hash, visit = string.match(text, '^(%d+)\t(.*)$')
  local n = vhome(hash)
  local entry = 'd' .. struct.pack('>I2', #visit) .. visit .. scope .. '\t' .. rest
  call('ZADD', DUE, 'LT', integer(due_at(visit, rest)), n)
  count('parked', 1)
  if call('HSET', vkey(n), hash, entry) == 1 then
    visits = visits + 1
    count('visits', 1)
    if visits > 32 * (splits + 1) then split_visits() end
  end
end
-- Its time has come: back into its queue, behind what is there; sitemaps in front (crawler.seeds.plan). A page that was
-- visited is no link any more: as one that a sitemap lists it is not ordered by its kind, and never parked.
local function bring_back(n, hash, entry, scope, rest)
  if byte(rest, KIND_AT) == LINK then rest = LISTED .. sub(rest, DEPTH_AT) end
  call('HSET', vkey(n), hash, 'p' .. string.sub(entry, 2))
  count('parked', -1)
  count('done', -1)
  tally('done', scope, -1)
  count('queued', 1)
  local priority = byte(rest, KIND_AT) == SITEMAP and 1000 or 0
  push(scope, integer(call('HINCRBY', ST, 'sequence', 1) - priority * PRIORITY), rest)
end
