// Reads one page: its visible text, what it hides, and what it says of itself. It may hold up its thread for seconds, if a page wants that,
// so it has one of its own (html-thread.ts).
import type { DefaultTreeAdapterTypes } from 'parse5'
import { parse, parseFragment, serialize } from 'parse5'
import { cleanTree } from './clean-tree.ts'
import type { HtmlPage, HtmlRequest } from './html-page.ts'
import { writeText } from './html-text.ts'
import { readMetadata } from './metadata.ts'

/** Characters of a page's text; the rest is left out. */
const TEXT_CHARS = 2_000_000
/** Elements of a page in which the main part is looked for. */
const ARTICLE_ELEMENTS = 15_000
/** A shorter main part is more likely a mistake. */
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

/** The main part of the cleaned page by Readability; undefined if it finds none. */
async function findArticle(document: DefaultTreeAdapterTypes.Document, base: string, title: string) {
  const markup = `<!doctype html><html><head><title>${title.replaceAll(/[&<>]/g, ' ')}</title></head>${bodyOf(document)}</html>`
  // Many pages need neither, and both take time to load.
  const [{ Readability }, { parseHTML }] = await Promise.all([import('@mozilla/readability'), import('linkedom')])
  const { document: copy } = parseHTML(markup)
  // linkedom's document is one; its types are those of the DOM's library, which this package is compiled without.
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
