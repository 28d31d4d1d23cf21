-- Which query parameters of a scope change its pages (crawler.urls.parameters); with common.lua, for ack.
-- n:<scope> HASH parameter -> pairs of URLs that only it tells apart and whose page is the same; how many pages that were;
-- in how many pairs one URL was without it; pairs whose pages differ; state; the hash of its name; an example.
-- e:<scope> STRING: the latest pages, PLACES of them by hash: tag, hash of the values, page. 5,120 bytes, where any URL
-- of the scope has parameters. learned HASH scope -> "state name" a line; st.learned counts its changes.
local NAMES, PLACES, WITNESS = 16, 512, 10
local ENOUGH, BARE = 8, 2  -- pages with the same text under two values; pairs of which one URL was without the parameter
local PARAMETER, SPAN = '>I4I4I4I4c1d', 1099511627776  -- 2^40
local OPEN, TRIED, LEARNED, REFUTED = 'o', 't', 'l', 'r'
local PAIRED = 8388608  -- 2^23: this page has been in a pair

local function parameter_of(text)
  if not text then return {same = 0, pages = 0, bare = 0, different = 0, state = OPEN, hash = 0, example = ''} end
  local r, at = {}, nil
  r.same, r.pages, r.bare, r.different, r.state, r.hash, at = struct.unpack(PARAMETER, text)
  r.example = sub(text, at)
  return r
end
local function packed_parameter(r)
  return struct.pack(PARAMETER, r.same, r.pages, r.bare, r.different, r.state, r.hash) .. r.example
end
local function place_of(key) return key % PLACES * WITNESS, math.floor(key / PLACES) % 16777216 end
local function witness(cache, key)
  local at, tag = place_of(key)
  if #cache < at + WITNESS then return nil end
  local found, values, page = struct.unpack('>I3I3I4', cache, at + 1)
  if found ~= tag then return nil end
  return values % PAIRED, page, values >= PAIRED
end
local function remember_witness(scope, key, values, page, paired)
  local at, tag = place_of(key)
  call('SETRANGE', P .. 'e:' .. scope, at, struct.pack('>I3I3I4', tag, values + (paired and PAIRED or 0), page))
end
-- Two pages that one parameter tells apart. Two without text say nothing. Returns whether they are the same.
local function compare(r, one, other, first, bare, url)
  if one ~= other then
    r.different = r.different + 1
    if r.different == 1 then r.example = sub(url, 1, 120) end
    return false
  end
  if one == 0 then return false end
  r.same = r.same + 1
  if first then r.pages = r.pages + 1 end
  if bare then r.bare = r.bare + 1 end
  if r.different == 0 then r.example = sub(url, 1, 120) end
  return true
end
local function note_state(scope, name, r)
  local state = r.different > 0 and REFUTED or r.pages < ENOUGH and OPEN or r.bare < BARE and TRIED or LEARNED
  if state == r.state then return end
  local was = r.state
  r.state = state
  if (was == OPEN) and state == REFUTED then return end
  local lines = {}
  for line in string.gmatch(call('HGET', P .. 'learned', scope) or '', '[^\n]+') do
    if sub(line, 3) ~= name then lines[#lines + 1] = line end
  end
  if state ~= REFUTED then lines[#lines + 1] = state .. ' ' .. name end
  if #lines > 0 then call('HSET', P .. 'learned', scope, table.concat(lines, '\n')) else call('HDEL', P .. 'learned', scope) end
  call('HINCRBY', ST, 'learned', 1)
end
-- The URL has this parameter: with the page under its other values, and with the page without it. Where parameters stand
-- together, the page without any of them speaks for each, but not against it: another one may be what matters.
local function with_parameter(scope, cache, r, name, rest, base, values, page, url)
  local key = (rest + r.hash) % SPAN
  local before, seen, paired = witness(cache, key)
  local _, plain_page = witness(cache, rest)
  if not plain_page then
    _, plain_page = witness(cache, base)
    if plain_page ~= page then plain_page = nil end
  end
  if before and before ~= values then paired = compare(r, page, seen, not paired, false, url) or paired end
  if plain_page then paired = compare(r, page, plain_page, not paired, true, url) or paired end
  remember_witness(scope, key, values, page, paired)
  note_state(scope, name, r)
end
-- The URL does not have this one: with the page of the same URL and the parameter.
local function without_parameter(scope, cache, r, name, own, page, url)
  local key = (own + r.hash) % SPAN
  local values, seen, paired = witness(cache, key)
  if not values then return false end
  if compare(r, page, seen, not paired, true, url) then remember_witness(scope, key, values, seen, true) end
  note_state(scope, name, r)
  return true
end
-- What a page says about the parameters of its scope. `text`: `page&=own base&name=rest values name`, a ! in front where
-- the page leads to URLs with parameters. Returns whether the scope has parameters; `any`: whether it had.
local function testify(scope, text, any, url)
  local leads_on, page, list = match(text, '^(!?)(%x+)(.*)$')
  if not page or not any and leads_on == '' and not find(list, '&[^=]') then return any end
  page = num(page, 16)
  local key, own, has = P .. 'n:' .. scope, 0, {}
  local cache, rows = call('GET', P .. 'e:' .. scope) or '', call('HGETALL', key)
  local known, count, base = {}, #rows / 2, 0
  for at = 1, #rows, 2 do known[rows[at]] = rows[at + 1] end
  for name, hex in string.gmatch(list, '&([^=&]*)=(%x+)') do
    local rest = num(sub(hex, 1, 10), 16)
    if name == '' then
      own, base = rest, num(sub(hex, 11, 20), 16)
    elseif known[name] or count < NAMES then
      if not known[name] then count = count + 1 end
      local r = parameter_of(known[name])
      has[name], r.hash = true, num(sub(hex, 17, 26), 16)
      if r.state ~= REFUTED then
        with_parameter(scope, cache, r, name, rest, base, num(sub(hex, 11, 16), 16), page, url)
        call('HSET', key, name, packed_parameter(r))
      end
    end
  end
  for name, row in pairs(known) do
    local r = not has[name] and parameter_of(row)
    if r and r.state ~= REFUTED and without_parameter(scope, cache, r, name, own, page, url) then
      call('HSET', key, name, packed_parameter(r))
    end
  end
  remember_witness(scope, own, 0, page, false)
  return true
end
