-- What a model says of pages (CLASSIFIERS), learned by their shape and by the page that led to them: links of one page lead
-- to pages alike (Davison 2000, Topical locality in the web). Stands behind common.lua. Nothing is done before a score was
-- told; then st.scored = FRONTIER_QUALITY_WEIGHT. f:<scope> HASH; of sources at most MOST, the longest unused go first:
-- '.' -> scores, their sum and sum of squares; pairs of scores of one shape, of links of one page, of a page and its links,
-- each with the sum of their products. A shape, or the source of a link -> scores, sum of what they had beyond what was
-- expected; what is expected without any; when it was last used (in scores of the scope).
local focus = {ROW = '>fffI4', SUMS = '>I4ddffffff', MOST = 128, SURE = 4, SPREAD = 0.25, FIRST_OF_A_GROUP = 3,
               HOPE = 2, OF_LISTS = 1.5, NEWS = 0.25, FARTHEST = 4, USUAL = 0.5, USUAL_VARIANCE = 0.01}
function focus.key(scope) return P .. 'f:' .. scope end
function focus.row(text)
  if not text then return {n = 0, sum = 0, prior = 0} end
  local n, sum, prior = struct.unpack(focus.ROW, text)
  return {n = n, sum = sum, prior = prior}
end
function focus.mean(row, prior) return row.n > 0 and row.sum / row.n or prior end
-- Mean and variance of the scores; of both what is between shapes and between pages (mean product of two of a group), each
-- drawn towards a quarter; how much of what a page has its links have, too (regression through the origin).
function focus.sums(text)
  local n, sum, squares, shapes, in_shapes, pages, in_pages, ways, on_ways = 0, 0, 0, 0, 0, 0, 0, 0, 0
  if text then n, sum, squares, shapes, in_shapes, pages, in_pages, ways, on_ways = struct.unpack(focus.SUMS, text) end
  local mean, sure = (focus.USUAL + sum) / (1 + n), focus.SURE
  local variance = math.max(1e-4, (sure * focus.USUAL_VARIANCE + squares - 2 * mean * sum + n * mean * mean) / (sure + n))
  local function between(pairs_, products)
    local share = (sure * focus.SPREAD * variance + products) / (sure + pairs_) / variance
    return math.max(0.02, math.min(0.9, share)) * variance
  end
  return {n = n, sum = sum, squares = squares, shapes = shapes, in_shapes = in_shapes, pages = pages, in_pages = in_pages,
          ways = ways, on_ways = on_ways, mean = mean, variance = variance, of_shape = between(shapes, in_shapes),
          of_page = between(pages, in_pages), way = math.max(0, math.min(1, (sure * variance / 2 + on_ways) / (sure * variance + ways)))}
end
-- Posterior mean and variance of what a shape or page adds to the score of a link (normal, both variances known).
function focus.posterior(row, between, variance, way)
  local prior = row.prior * (way or 1)
  local share = row.n * between / (math.max(0.1 * variance, variance - between) + row.n * between)
  return prior + share * (focus.mean(row, prior) - prior), (1 - share) * between
end
-- Points of priority of a link: an octave for each standard deviation by which the score of its page may be expected above
-- the mean, with optimism for what is little known (upper confidence bound: Auer 2002). Lists have no score: behind one may
-- be any kind of page. Texts without a score (of a language that the model does not know) never have one: no optimism.
function focus.points(sums, weight, shape, page, has_text)
  local a, unsure = focus.posterior(shape, sums.of_shape, sums.variance)
  local b, of_page = focus.posterior(page, sums.of_page, sums.variance, sums.way)
  unsure = unsure + of_page
  if shape.n == 0 then unsure = has_text and 0 or focus.OF_LISTS * (sums.of_shape + sums.of_page) end
  local z = (a + b + focus.HOPE * math.sqrt(unsure)) / math.sqrt(sums.variance)
  return math.floor(OCTAVE * weight * math.max(-focus.FARTHEST, math.min(focus.FARTHEST, z)) + 0.5)
end
function focus.tidy(key)
  if call('HLEN', key) <= focus.MOST + SHAPES then return end
  local all, rows = call('HGETALL', key), {}
  for at = 1, #all, 2 do
    if #all[at] == #NO_SOURCE then rows[#rows + 1] = {all[at], (select(4, struct.unpack(focus.ROW, all[at + 1])))} end
  end
  table.sort(rows, function(a, b) return a[2] > b[2] or a[2] == b[2] and a[1] < b[1] end)
  for k = focus.MOST / 2 + 1, #rows do call('HDEL', key, rows[k][1]) end
end
-- A page: its shape, the source of its link, itself as a source; score nil: nobody said one. Returns a set of the shapes
-- and sources whose links are to be ordered anew.
function focus.learn(scope, shape, source, own, score)
  local key, has_source, anew, writes = focus.key(scope), source ~= NO_SOURCE, {}, {}
  local found = call('HMGET', key, WHOLE, shape, source, own)
  local s, kind, page, self = focus.sums(found[1]), focus.row(found[2]), focus.row(found[3]), focus.row(found[4])
  local a, b = focus.posterior(kind, s.of_shape, s.variance), (focus.posterior(page, s.of_page, s.variance, s.way))
  local news, expected = focus.NEWS * math.sqrt(s.variance), a + b
  local function write(name, row, between, before, way)
    writes[#writes + 1], writes[#writes + 2] = name, struct.pack(focus.ROW, row.n, row.sum, row.prior, s.n)
    if math.abs(focus.posterior(row, between, s.variance, way) - before) > news then anew[name] = true end
  end
  if score then
    local more = score - s.mean
    local rest = more - a
    if kind.n > 0 and kind.n < focus.FIRST_OF_A_GROUP then
      s.shapes, s.in_shapes = s.shapes + 1, s.in_shapes + more * focus.mean(kind)
    end
    kind.n, kind.sum = kind.n + 1, kind.sum + more
    write(shape, kind, s.of_shape, a)
    if has_source then
      if page.n > 0 and page.n < focus.FIRST_OF_A_GROUP then
        s.pages, s.in_pages = s.pages + 1, s.in_pages + rest * focus.mean(page)
      end
      if page.n < focus.FIRST_OF_A_GROUP then
        s.ways, s.on_ways = s.ways + page.prior * page.prior, s.on_ways + page.prior * rest
      end
      page.n, page.sum = page.n + 1, page.sum + rest
      write(source, page, s.of_page, b, s.way)
    end
    s.n, s.sum, s.squares, expected = s.n + 1, s.sum + score, s.squares + score * score, more
    if math.log(s.n) / math.log(2) % 1 < 1e-9 then anew[OTHER] = true end  -- mean and variances were others before
    writes[#writes + 1] = WHOLE
    writes[#writes + 1] = struct.pack(focus.SUMS, s.n, s.sum, s.squares, s.shapes, s.in_shapes, s.pages, s.in_pages, s.ways,
                                      s.on_ways)
  end
  if math.abs(expected) > news then
    local before = focus.posterior(self, s.of_page, s.variance, s.way)
    self.prior = expected
    write(own, self, s.of_page, before, s.way)
  end
  if #writes > 0 then
    call('HSET', key, unpack(writes))
    focus.tidy(key)
  end
  return anew
end
local function learn_score(...) return focus.learn(...) end
