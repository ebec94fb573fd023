// Reads one page: its visible text, what it hides, and its metadata. A page can keep its thread busy for seconds, so
// each runs in its own (html-thread.ts).
import type { DefaultTreeAdapterTypes } from 'parse5'
import { parse, parseFragment, serialize } from 'parse5'
import { cleanTree } from './clean-tree.ts'
import type { HtmlPage, HtmlRequest } from './html-page.ts'
import { writeText } from './html-text.ts'
import { readMetadata } from './metadata.ts'

/** Maximum characters of a page's text; the rest is dropped. */
const TEXT_CHARS = 2_000_000
/** Maximum elements of a page whose main part is extracted. */
const ARTICLE_ELEMENTS = 15_000
/** A shorter main part is probably a mistake. */
const ARTICLE_CHARS = 200

export async function readHtml({ html, url, part }: HtmlRequest): Promise<HtmlPage> {
  const document = parse(html)
  const { base, ...metadata } = readMetadata(document, url)
  const { hiddenText, hiddenCharacters, isCut, elements } = cleanTree(document)
  const whole = writeText(document, { base, chars: TEXT_CHARS })
  const mayHave = part === 'article' && elements <= ARTICLE_ELEMENTS && whole.text.length >= ARTICLE_CHARS
  const article = mayHave ? await findArticle(document, base, metadata.title ?? '') : undefined
  const written = article ?? whole
  return {
    ...metadata,
    text: written.text,
    part: article ? 'article' : 'whole-page',
    hiddenText,
    hiddenCharacters,
    images: written.images,
    isCut: isCut || written.isCut,
  }
}

/**
 * The main part of the cleaned page according to Readability; `undefined` if it finds none, or if it or linkedom, which
 * are optional peers, cannot be loaded.
 */
async function findArticle(document: DefaultTreeAdapterTypes.Document, base: string, title: string) {
  const markup = `<!doctype html><html><head><title>${title.replaceAll(/[&<>]/g, ' ')}</title></head>${bodyOf(document)}</html>`
  // Loaded lazily: many pages need neither, and both take time to load.
  const loaded = await Promise.all([import('@mozilla/readability'), import('linkedom')]).catch(() => undefined)
  if (!loaded) return undefined
  const [{ Readability }, { parseHTML }] = loaded
  const { document: copy } = parseHTML(markup)
  // linkedom's document is compatible, but its types are those of the DOM library, which this package does not use.
  const article = new Readability(copy as never, { disableJSONLD: true }).parse()
  if (!article?.content || (article.textContent ?? '').trim().length < ARTICLE_CHARS) return undefined
  return writeText(parseFragment(article.content), { base, chars: TEXT_CHARS })
}

function bodyOf(document: DefaultTreeAdapterTypes.Document): string {
  return `<body>${serialize(findBody(document))}</body>`
}

function findBody(document: DefaultTreeAdapterTypes.Document): DefaultTreeAdapterTypes.ParentNode {
  const root = document.childNodes.find((node) => node.nodeName === 'html')
  const body = root && 'childNodes' in root ? root.childNodes.find((node) => node.nodeName === 'body') : undefined
  return body && 'childNodes' in body ? body : document
}
