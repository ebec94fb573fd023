// Brave Search, Tavily and SearXNG as their pages and clients describe them (seen in 2026-11), on one local server that
// rejects what they reject.
import type { LocalAnswer, LocalRequest, LocalServer } from '@baton/testing/local-server'
import { startLocalServer } from '@baton/testing/local-server'
import * as z from 'zod'

export const SEARCH_KEY = 'search-key-of-a-test'

const TavilyBody = z.strictObject({
  query: z.string().min(1),
  max_results: z.int().min(0).max(20),
  search_depth: z.enum(['basic', 'advanced']),
})

export interface SearchServer extends LocalServer {
  readonly violations: string[]
}

export async function startSearchServer({ allowsJson = true } = {}): Promise<SearchServer> {
  const violations: string[] = []
  const refuse = (why: string): LocalAnswer => {
    violations.push(why)
    return { status: 422, body: { detail: why } }
  }
  const answer = (request: LocalRequest): LocalAnswer => {
    const { url, method } = request
    if (method === 'GET' && url.pathname === '/res/v1/web/search') return answerBrave(request, refuse)
    if (method === 'POST' && url.pathname === '/search') return answerTavily(request, refuse)
    if (method !== 'GET' || url.pathname !== '/search') return refuse(`${method} ${url.pathname}`)
    if (url.searchParams.get('format') !== 'json' || (url.searchParams.get('q') ?? '') === '') return refuse(url.search)
    if (!allowsJson) return { status: 403, body: 'Forbidden' }
    return { body: { query: 'x', number_of_results: 0, answers: [], results: RESULTS.map(toSearxng) } }
  }
  return Object.assign(await startLocalServer(answer), { violations })
}

const RESULTS = Array.from({ length: 30 }, (_, index) => ({
  title: `Result ${index}`,
  url: index === 1 ? 'javascript:alert(1)' : `https://a.example/${index}`,
  words: `It says ${index}`,
}))

function answerBrave({ url, headers }: LocalRequest, refuse: (why: string) => LocalAnswer): LocalAnswer {
  if (headers['x-subscription-token'] !== SEARCH_KEY) return { status: 401, body: { type: 'ErrorResponse' } }
  const { q = '', count = '20', ...rest } = Object.fromEntries(url.searchParams)
  if (q === '' || q.length > 400 || q.split(' ').length > 50) return refuse(`q is "${q}"`)
  if (!/^(?:1?\d|20)$/.test(count)) return refuse(`count is ${count}`)
  const unknown = Object.keys(rest).find((name) => name !== 'text_decorations')
  if (unknown !== undefined) return refuse(`there is no ${unknown}`)
  const results = RESULTS.slice(0, Number(count)).map(({ title, url: at, words }) => ({
    type: 'search_result',
    title,
    url: at,
    description: rest['text_decorations'] === 'false' ? words : `<strong>${words}</strong>`,
    page_age: '2026-11-20T09:00:00',
    language: 'en',
  }))
  // Without results, there is no "web" field.
  return {
    body: { type: 'search', query: { original: q }, ...(q !== 'nothing' && { web: { type: 'search', results } }) },
  }
}

function answerTavily({ headers, body }: LocalRequest, refuse: (why: string) => LocalAnswer): LocalAnswer {
  if (headers.authorization !== `Bearer ${SEARCH_KEY}`)
    return { status: 401, body: { detail: { error: 'Unauthorized: missing or invalid API key.' } } }
  const read = TavilyBody.safeParse(JSON.parse(body))
  if (!read.success) return refuse(read.error.message)
  const results = RESULTS.slice(0, read.data.max_results).map(({ title, url, words }) => ({
    title,
    url,
    content: words,
    score: 0.9,
    raw_content: null,
  }))
  return { body: { query: read.data.query, answer: null, images: [], results, response_time: 0.5 } }
}

function toSearxng({ title, url, words }: (typeof RESULTS)[number]) {
  return {
    title,
    url,
    content: words,
    engine: 'x',
    engines: ['x'],
    score: 1,
    publishedDate: null,
    template: 'default.html',
  }
}
