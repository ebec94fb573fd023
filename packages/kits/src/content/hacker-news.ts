// Client of the Hacker News API: https://github.com/HackerNews/API (fields of items and users, read in 2026-11).
// Missing items are `null`.
import type { JsonValue, ToolContext } from '@baton/core'
import { BatonError } from '@baton/core'
import { parseFragment } from 'parse5'
import * as z from 'zod'
import { cleanTree } from '../shared/pages/clean-tree.ts'
import { resolve, writeText } from '../shared/pages/html-text.ts'
import { readHtmlInThread } from '../shared/pages/html-thread.ts'
import type { ServiceOptions } from '../shared/service-client.ts'
import { ServiceClient } from '../shared/service-client.ts'
import type { Content } from './details.ts'
import { NOTHING, toIso } from './details.ts'
import type { Target } from './target.ts'

const SITE = 'https://news.ycombinator.com'
const TEXT_CHARS = 200_000

const Item = z.looseObject({
  id: z.int(),
  type: z.string().nullish(),
  deleted: z.boolean().nullish(),
  dead: z.boolean().nullish(),
  by: z.string().nullish(),
  time: z.number().nullish(),
  /** HTML, like the other texts. */
  text: z.string().nullish(),
  parent: z.int().nullish(),
  poll: z.int().nullish(),
  url: z.string().nullish(),
  score: z.number().nullish(),
  title: z.string().nullish(),
})
const User = z.looseObject({
  id: z.string(),
  created: z.number(),
  karma: z.number(),
  about: z.string().nullish(),
})
const KINDS: Readonly<Record<string, Content['kind']>> = {
  story: 'post',
  comment: 'comment',
  job: 'job',
  poll: 'poll',
  pollopt: 'poll-option',
}

export type HackerNewsTarget = Extract<Target, { readonly type: `hacker-news-${string}` }>

export class HackerNewsApi {
  readonly #service: ServiceClient

  /** @throws BatonError `invalid_option` */
  constructor(what: string, server: string, service: ServiceOptions) {
    const option = `${what}: hackerNews.server`
    this.#service = new ServiceClient({ ...service, name: 'Hacker News', server, option, showsWords: false })
  }

  /**
   * @throws BatonError as `ServiceClient.ask` does, `api_refused` if it does not exist, `api_malformed` if its text
   * cannot be read
   */
  async read(target: HackerNewsTarget, { signal }: ToolContext): Promise<Content> {
    if (target.type === 'hacker-news-user') {
      const value = await this.#get(`/v0/user/${encodeURIComponent(target.name)}.json`, signal)
      if (value === null) throw missing(`user ${target.name}`)
      return await toUser(this.#service.check(User, value), signal)
    }
    const value = await this.#get(`/v0/item/${target.id}.json`, signal)
    if (value === null) throw missing(`item ${target.id}`)
    return await toContent(this.#service.check(Item, value), signal)
  }

  async #get(path: string, signal: ToolContext['signal']): Promise<JsonValue> {
    return (await this.#service.ask({ method: 'GET', path, signal })).value
  }
}

async function toContent(item: z.infer<typeof Item>, signal: ToolContext['signal']): Promise<Content> {
  const { id, type, deleted, dead, by, time, text, url, score, title } = item
  const parent = item.parent ?? item.poll ?? undefined
  return {
    ...NOTHING,
    source: 'hacker-news',
    kind: KINDS[type ?? ''] ?? 'post',
    id: `hn:${id}`,
    permalink: `${SITE}/item?id=${id}`,
    state: deleted ? 'deleted' : dead ? 'removed' : 'present',
    ...(dead && !deleted && { stateNote: 'it is dead: killed by software, flags of users or moderators' }),
    title: title ? await readMarkup(title, signal) : null,
    author: by ?? null,
    text: await readMarkup(text ?? '', signal),
    score: score ?? null,
    createdAt: toIso(time),
    parent: parent === undefined ? null : { id: `hn:${parent}`, permalink: `${SITE}/item?id=${parent}` },
    community: 'Hacker News',
    link: resolve(url ?? undefined, SITE) ?? null,
  }
}

async function toUser(
  { id, created, karma, about }: z.infer<typeof User>,
  signal: ToolContext['signal'],
): Promise<Content> {
  return {
    ...NOTHING,
    source: 'hacker-news',
    kind: 'user',
    id: `hn:user:${id}`,
    permalink: `${SITE}/user?id=${encodeURIComponent(id)}`,
    state: 'present',
    author: id,
    text: await readMarkup(about ?? '', signal),
    score: karma,
    createdAt: toIso(created),
    community: 'Hacker News',
  }
}

/** Maximum tags of an ordinary text. */
const TAGS = 500

/**
 * Hacker News generates this HTML from paragraphs, links, emphasis and code. Text with more tags is parsed in a worker,
 * since unclosed elements can make parsing quadratic.
 */
async function readMarkup(html: string, signal: ToolContext['signal']): Promise<string> {
  const text = html.slice(0, TEXT_CHARS)
  if (text.split('<', TAGS + 2).length > TAGS + 1)
    return (await readHtmlInThread({ html: text, url: SITE, part: 'whole-page' }, { signal })).text
  const fragment = parseFragment(text)
  cleanTree(fragment)
  return writeText(fragment, { base: SITE, chars: TEXT_CHARS }).text
}

function missing(what: string): BatonError {
  return new BatonError({ code: 'api_refused', message: `Hacker News has no ${what}`, data: { status: 404 } })
}
