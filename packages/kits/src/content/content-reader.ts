// Reads a piece of content for a program or a tool: determines the source and asks it.
import type { ErrorCode, ToolContext } from '@baton/core/internal'
import { BatonError, checkFields, checkKinds } from '@baton/core/internal'
import type { DocumentOptions } from '@baton/tools/internal'
import { DocumentFetcher } from '@baton/tools/internal'
import type { HtmlPage } from '../shared/pages/html-page.ts'
import { PageThreads } from '../shared/pages/html-thread.ts'
import { SERVICE_ERRORS } from '../shared/service-client.ts'
import type { Content } from './details.ts'
import { NOTHING } from './details.ts'
import { HackerNewsApi } from './hacker-news.ts'
import type { RedditOptions } from './reddit.ts'
import { RedditApi } from './reddit.ts'
import type { Target } from './target.ts'
import { readId, readUrl } from './target.ts'

/** Options of the content kit: services that it reads, and documents. */
export interface ContentOptions<Services = unknown> extends DocumentOptions {
  readonly reddit?: RedditOptions<Services>
  /** `server` defaults to `https://hacker-news.firebaseio.com`. */
  readonly hackerNews?: { readonly server?: string }
  /**
   * Resolves an id of the program's own, such as the number of a submission, to an address; `undefined` if the program
   * does not know the id. This lets a model work with ids instead of addresses.
   */
  readonly resolve?: (id: string, context: ToolContext<Services>) => string | undefined | Promise<string | undefined>
}

/** The content to read: an address, or an id that the program resolves. */
export interface ContentQuestion {
  readonly url?: string | undefined
  readonly id?: string | undefined
  /** `article`, the main part of a page, by default. */
  readonly part?: HtmlPage['part'] | undefined
}

/** Reads a post, comment, person or page. The tools of the kit use it, and so may a program. */
export interface ContentReader<Services = unknown> {
  /** @throws BatonError with one of `CONTENT_ERRORS`; the reason of an aborted signal */
  read(question: ContentQuestion, context: ToolContext<Services>): Promise<Content>
  /** Time limit of a call in milliseconds. */
  readonly timeoutMs: number
}

export const CONTENT_ERRORS: readonly ErrorCode[] = [...SERVICE_ERRORS, 'invalid_arguments', 'media_unsupported']

const FIELDS = new Set(['reddit', 'hackerNews', 'resolve', 'guard', 'timeoutMs', 'maxBytes', 'fetch', 'clock'])
/** Maximum requests per call: a login, the actual request, and both again. */
const REQUESTS = 4
const READ_MS = 10_000

/** @throws BatonError `invalid_option` */
export function createContentReader<Services = unknown>(
  options: ContentOptions<Services> = {},
  what = 'createContentReader',
): ContentReader<Services> {
  checkFields(options, { what, code: 'invalid_option', fields: FIELDS })
  const kinds = {
    reddit: 'an object',
    hackerNews: 'an object',
    guard: 'an object',
    resolve: 'a function',
    fetch: 'a function',
  } as const
  checkKinds(options, { what, code: 'invalid_option', kinds })
  const { reddit = {}, hackerNews = {}, resolve, guard, ...service } = options
  // Its functions receive the context of the program that created the reader.
  const redditApi = new RedditApi(what, reddit as RedditOptions, service)
  const hackerNewsApi = new HackerNewsApi(what, hackerNews.server ?? 'https://hacker-news.firebaseio.com', service)
  const fetcher = new DocumentFetcher(what, { ...service, ...(guard && { guard }) })
  const threads = new PageThreads()
  const readTarget = async (target: Target, question: ContentQuestion, context: ToolContext): Promise<Content> => {
    switch (target.type) {
      case 'reddit-thing':
      case 'reddit-user':
      case 'reddit-share':
        return await redditApi.read(target, context)
      case 'hacker-news-item':
      case 'hacker-news-user':
        return await hackerNewsApi.read(target, context)
      case 'page':
        return await readPage(
          { fetcher, threads },
          { url: target.url, part: question.part ?? 'article' },
          context.signal,
        )
    }
  }
  return {
    timeoutMs: fetcher.timeoutMs * REQUESTS + READ_MS,
    read: async (question, context) => {
      const { url, id } = question
      if ((url === undefined) === (id === undefined))
        throw new BatonError({ code: 'invalid_arguments', message: 'exactly one of url and id is required' })
      if (url !== undefined) return await readTarget(readUrl(url), question, context)
      const own = await resolve?.(id ?? '', context)
      const target = own === undefined ? readId(id ?? '') : readUrl(own)
      return await readTarget(target, question, context)
    },
  }
}

async function readPage(
  { fetcher, threads }: { readonly fetcher: DocumentFetcher; readonly threads: PageThreads },
  { url: asked, part }: { readonly url: string; readonly part: HtmlPage['part'] },
  signal: ToolContext['signal'],
): Promise<Content> {
  const { url, type, text } = await fetcher.fetchText(asked, signal)
  const common = { ...NOTHING, source: 'web', kind: 'page', id: null, permalink: url, state: 'present' } as const
  if (type !== 'html') return { ...common, text }
  const page = await threads.read({ html: text, url, part }, { deadlineMs: READ_MS, signal })
  const { image } = page.openGraph
  return {
    ...common,
    permalink: page.canonical !== undefined && isSameOrigin(page.canonical, url) ? page.canonical : url,
    title: page.title ?? null,
    author: page.author ?? null,
    text: page.text,
    createdAt: page.publishedAt ?? null,
    editedAt: page.modifiedAt ?? null,
    community: page.openGraph.siteName ?? null,
    images: [...new Set([...(image === undefined ? [] : [image]), ...page.images])],
    openGraph: page.openGraph,
    part: page.part,
    hiddenText: page.hiddenText,
    hiddenCharacters: page.hiddenCharacters,
    isCut: page.isCut,
  }
}

/** A page must not claim the identity of a page on another site. */
function isSameOrigin(one: string, other: string): boolean {
  return URL.parse(one)?.origin === URL.parse(other)?.origin
}
