// Writes an HTML tree as text in Markdown style: headings, lists, links, tables, quotations and code. Bounded;
// recursion is limited by the depth that cleanTree leaves.
import type { ChildNode, Element, ParentNode } from './clean-tree.ts'
import { attribute, isElement, isText } from './clean-tree.ts'

export interface Written {
  readonly text: string
  readonly images: readonly string[]
  readonly isCut: boolean
}

const IMAGES = 20
const ALT_CHARS = 200

const BLOCKS: ReadonlySet<string> = new Set(
  (
    'address article aside body blockquote center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 ' +
    'header hgroup hr html legend li main menu nav ol optgroup option p pre search section select summary table tbody tfoot thead tr ul'
  ).split(' '),
)

/** @param chars maximum characters of the text */
export function writeText(
  root: ParentNode,
  { base, chars }: { readonly base: string; readonly chars: number },
): Written {
  const writer = new Writer(base, chars)
  writer.children(root)
  return writer.end()
}

class Writer {
  readonly #base: string
  readonly #chars: number
  readonly #images: string[] = []
  readonly #pieces: string[] = []
  /** Number of items written per numbered list. */
  readonly #items = new Map<Element, number>()
  #length = 0
  /** Pending line breaks before the next word. */
  #breaks = 0
  #space = false
  #prefix = ''
  #isPre = false

  constructor(base: string, chars: number) {
    this.#base = base
    this.#chars = chars
  }

  end(): Written {
    return { text: this.#pieces.join('').trimEnd(), images: this.#images, isCut: this.#length >= this.#chars }
  }

  children(parent: ParentNode): void {
    for (const child of parent.childNodes) {
      if (this.#length >= this.#chars) return
      this.#node(child)
    }
  }

  #node(node: ChildNode): void {
    if (isText(node)) this.#words(node.value)
    if (!isElement(node)) return
    const isBlock = BLOCKS.has(node.tagName)
    if (isBlock) this.#break(node.tagName === 'li' || node.tagName === 'tr' || node.tagName === 'option' ? 1 : 2)
    this.#element(node)
    if (isBlock) this.#break(node.tagName === 'li' || node.tagName === 'tr' || node.tagName === 'option' ? 1 : 2)
  }

  #element(element: Element): void {
    const { tagName } = element
    const level = /^h([1-6])$/.exec(tagName)?.[1]
    if (level !== undefined) this.#mark(`${'#'.repeat(Number(level))} `)
    switch (tagName) {
      case 'br':
        this.#break(1)
        return
      case 'hr':
        this.#mark('---')
        return
      case 'li':
        this.#mark(this.#bullet(element))
        break
      case 'img':
        this.#image(element)
        return
      case 'a':
        this.#link(element)
        return
      case 'pre':
        this.#pre(element)
        return
      case 'blockquote':
        this.#quote(element)
        return
      case 'td':
      case 'th':
        if (element.parentNode?.childNodes.find(isElement) !== element) this.#mark(' | ')
        break
    }
    this.children(element)
  }

  #bullet({ parentNode }: Element): string {
    if (!parentNode || !isElement(parentNode) || parentNode.tagName !== 'ol') return '- '
    const position = (this.#items.get(parentNode) ?? 0) + 1
    this.#items.set(parentNode, position)
    return `${position}. `
  }

  #words(value: string): void {
    if (this.#isPre) {
      for (const [index, line] of value.split(/\r?\n/).entries()) {
        if (index > 0) this.#put(`\n${this.#prefix}`)
        this.#put(line)
      }
      return
    }
    if (/^\s/.test(value)) this.#space = true
    const words = value.replaceAll(/[\t\n\f\r ]+/g, ' ').trim()
    if (words === '') return
    this.#settle()
    this.#put(words)
    this.#space = /\s$/.test(value)
  }

  #mark(mark: string): void {
    this.#settle()
    this.#put(mark)
    this.#space = false
  }

  /** Writes pending line breaks and spaces. */
  #settle(): void {
    if (this.#length === 0) {
      if (this.#prefix !== '') this.#put(this.#prefix)
    } else if (this.#breaks > 0) this.#put(`\n${this.#prefix}`.repeat(this.#breaks))
    else if (this.#space) this.#put(' ')
    this.#breaks = 0
    this.#space = false
  }

  #break(count: number): void {
    this.#breaks = Math.max(this.#breaks, count)
    this.#space = false
  }

  #put(text: string): void {
    const room = this.#chars - this.#length
    const piece = text.slice(0, Math.max(0, room))
    this.#pieces.push(piece)
    this.#length += piece.length
  }

  #image(element: Element): void {
    const source = resolve(attribute(element, 'src'), this.#base)
    if (source !== undefined && this.#images.length < IMAGES) this.#images.push(source)
    const alt = (attribute(element, 'alt') ?? '').replaceAll(/\s+/g, ' ').trim().slice(0, ALT_CHARS)
    if (alt !== '') this.#words(`[picture: ${alt}]`)
  }

  #link(element: Element): void {
    const from = this.#pieces.length
    this.children(element)
    const target = resolve(attribute(element, 'href'), this.#base)
    const said = this.#pieces.slice(from).join('').trim()
    // A link to an anchor on this page, or whose text is its address, adds nothing.
    if (target === undefined || said === '' || said === target || isSamePage(target, this.#base)) return
    this.#put(` <${target}>`)
  }

  #pre(element: Element): void {
    this.#mark('```')
    this.#put(`\n${this.#prefix}`)
    this.#isPre = true
    this.children(element)
    this.#isPre = false
    this.#put(`\n${this.#prefix}\`\`\``)
  }

  #quote(element: Element): void {
    const outer = this.#prefix
    // The breaks before it belong to its surroundings.
    if (this.#length > 0 && this.#breaks > 0) {
      this.#put(`\n${outer}`.repeat(this.#breaks - 1))
      this.#breaks = 1
    }
    if (outer.length < 20) this.#prefix = `${outer}> `
    this.children(element)
    this.#prefix = outer
  }
}

/** Returns a web address, or `undefined`. */
export function resolve(address: string | undefined, base: string): string | undefined {
  const url = address === undefined ? null : URL.parse(address.trim(), base)
  return url && /^https?:$/.test(url.protocol) && url.href.length <= 2000 ? url.href : undefined
}

function isSamePage(target: string, base: string): boolean {
  return target.split('#')[0] === base.split('#')[0]
}
