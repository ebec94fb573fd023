// Metadata of a page: title, author, times, Open Graph fields. All of it is unverified.
import type { ParentNode } from './clean-tree.ts'
import { attribute, isText, walkElements } from './clean-tree.ts'
import type { HtmlPage, OpenGraph } from './html-page.ts'
import { resolve } from './html-text.ts'

const CHARS = 500
/** Maximum elements examined: metadata is at the start. */
const ELEMENTS = 20_000
const LINKED_DATA_CHARS = 100_000

export type Metadata = Pick<
  HtmlPage,
  'title' | 'author' | 'language' | 'publishedAt' | 'modifiedAt' | 'canonical' | 'openGraph'
> & {
  /** The address that links are resolved against. */
  readonly base: string
}

interface Found {
  readonly named: Map<string, string>
  title?: string | undefined
  language?: string | undefined
  canonical?: string | undefined
  base?: string | undefined
  linked?: object | undefined
}

export function readMetadata(root: ParentNode, url: string): Metadata {
  const found: Found = { named: new Map() }
  let seen = 0
  for (const element of walkElements(root)) {
    seen += 1
    if (seen > ELEMENTS) break
    const text = (): string => element.childNodes.map((child) => (isText(child) ? child.value : '')).join('')
    switch (element.tagName) {
      case 'html':
        found.language ??= attribute(element, 'lang')
        break
      case 'title':
        found.title ??= text()
        break
      case 'base':
        found.base ??= resolve(attribute(element, 'href'), url)
        break
      case 'link':
        if (attribute(element, 'rel')?.toLowerCase() === 'canonical')
          found.canonical ??= resolve(attribute(element, 'href'), url)
        break
      case 'meta': {
        const name = (attribute(element, 'property') ?? attribute(element, 'name'))?.toLowerCase()
        const content = clean(attribute(element, 'content'))
        if (name !== undefined && content !== undefined && !found.named.has(name)) found.named.set(name, content)
        break
      }
      case 'script':
        if (/^application\/ld\+json$/i.test(attribute(element, 'type') ?? '')) found.linked ??= readLinkedData(text())
    }
  }
  return describe(found, url)
}

function describe({ named, title, language, canonical, base, linked = {} }: Found, url: string): Metadata {
  const image = resolve(named.get('og:image'), url)
  const openGraph: OpenGraph = dropAbsent({
    title: named.get('og:title'),
    description: named.get('og:description') ?? named.get('description'),
    image,
    type: named.get('og:type'),
    siteName: named.get('og:site_name'),
    url: resolve(named.get('og:url'), url),
  })
  const of = (name: string): string | undefined => {
    const value: unknown = Reflect.get(linked, name)
    return typeof value === 'string' ? value : undefined
  }
  return {
    base: base ?? url,
    openGraph,
    ...dropAbsent({
      title: clean(title) ?? openGraph.title,
      author: named.get('author') ?? named.get('article:author') ?? readAuthor(Reflect.get(linked, 'author')),
      language: clean(language)?.slice(0, 35),
      publishedAt: readTime(named.get('article:published_time') ?? of('datePublished')),
      modifiedAt: readTime(named.get('article:modified_time') ?? named.get('og:updated_time') ?? of('dateModified')),
      canonical,
    }),
  }
}

type Present<Fields> = { readonly [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }

function dropAbsent<const Fields extends object>(fields: Fields): Present<Fields> {
  // The same fields without undefined ones.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<Fields>
}

function clean(text: string | undefined): string | undefined {
  const words = text
    ?.slice(0, CHARS * 4)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, CHARS)
    .toWellFormed()
  return words === '' ? undefined : words
}

function readTime(text: string | undefined): string | undefined {
  const ms = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}

/** The first object; in a graph, the first one with a date. */
function readLinkedData(text: string): object | undefined {
  if (text.length > LINKED_DATA_CHARS) return undefined
  try {
    const value: unknown = JSON.parse(text)
    const graph: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, '@graph') : undefined
    const all: readonly unknown[] = Array.isArray(graph) ? graph : Array.isArray(value) ? value : [value]
    return all.find((one): one is object => typeof one === 'object' && one !== null && 'datePublished' in one)
  } catch {
    return undefined // not JSON, so it is ignored
  }
}

function readAuthor(author: unknown): string | undefined {
  const first: unknown = Array.isArray(author) ? author[0] : author
  const name: unknown = typeof first === 'object' && first !== null ? Reflect.get(first, 'name') : first
  return typeof name === 'string' ? clean(name) : undefined
}
