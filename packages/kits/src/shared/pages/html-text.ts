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
/** Lines that are indented or quoted this far are not indented further. */
const PREFIX_CHARS = 20

const BLOCKS: ReadonlySet<string> = new Set(
  (
    'address article aside body blockquote center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 ' +
    'header hgroup hr html legend li main menu nav ol optgroup option p pre search section select summary table tbody tfoot thead tr ul'
  ).split(' '),
)

/** Elements whose end is the end of their line. */
const ENDS_LINE = /^(?:li|h[1-6]|tr)$/

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
  /** Number of the latest item of each numbered list. */
  readonly #items = new Map<Element, number>()
  #length = 0
  /** Length before the table row being written. */
  #rowStart = 0
  /** Pending line breaks before the next word. */
  #breaks = 0
  #space = false
  #prefix = ''
  #isPre = false
  /** Whether the last thing written began a line, such as `- `, so that no line break belongs after it. */
  #isOpened = false

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
    const breaks = countBreaks(node)
    this.#break(breaks)
    this.#element(node)
    if (ENDS_LINE.test(node.tagName)) this.#isOpened = false
    this.#break(breaks)
  }

  #element(element: Element): void {
    const { tagName } = element
    const level = /^h([1-6])$/.exec(tagName)?.[1]
    if (level !== undefined) this.#open(`${'#'.repeat(Number(level))} `)
    switch (tagName) {
      case 'br':
        this.#break(1)
        return
      case 'hr':
        this.#mark('---')
        return
      case 'li':
        this.#item(element)
        return
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
      case 'tr':
        this.#row(element)
        return
      case 'td':
      case 'th':
        this.#cell(element)
        return
    }
    this.children(element)
  }

  #item(element: Element): void {
    const bullet = this.#bullet(element)
    const outer = this.#prefix
    this.#open(bullet)
    if (outer.length < PREFIX_CHARS) this.#prefix = outer + ' '.repeat(bullet.length)
    this.children(element)
    this.#prefix = outer
  }

  #bullet(item: Element): string {
    const { parentNode: list } = item
    if (!list || !isElement(list) || list.tagName !== 'ol') return '- '
    const position = readNumber(item, 'value') ?? (this.#items.get(list) ?? (readNumber(list, 'start') ?? 1) - 1) + 1
    this.#items.set(list, position)
    return `${position}. `
  }

  #row(element: Element): void {
    this.#rowStart = this.#length
    this.children(element)
    this.#endCell()
  }

  #cell(element: Element): void {
    const isFirst = element.parentNode?.childNodes.find(isElement) === element
    if (!isFirst) this.#endCell()
    if (isFirst) this.#isOpened = true
    else this.#open(' | ')
    this.children(element)
  }

  /** The last paragraph of a cell does not break its row. */
  #endCell(): void {
    if (this.#length > this.#rowStart) this.#breaks = 0
  }

  #words(value: string): void {
    if (this.#isPre) {
      for (const [index, line] of value.split(/\r?\n/).entries()) {
        if (index > 0) this.#put(`\n${this.#prefix}`)
        if (line !== '') this.#put(line)
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

  /** Begins a line. */
  #open(mark: string): void {
    this.#mark(mark)
    this.#isOpened = true
  }

  /** Writes pending line breaks and spaces. */
  #settle(): void {
    if (this.#length === 0) {
      if (this.#prefix !== '') this.#put(this.#prefix)
    } else if (this.#breaks > 0) this.#putBreaks(this.#breaks)
    else if (this.#space) this.#put(' ')
    this.#breaks = 0
    this.#space = false
  }

  #putBreaks(count: number): void {
    const blank = this.#prefix.trim() === '' ? '' : this.#prefix
    this.#put(`\n${blank}`.repeat(count - 1) + `\n${this.#prefix}`)
  }

  #break(count: number): void {
    if (count === 0 || this.#isOpened) return
    this.#breaks = Math.max(this.#breaks, count)
    this.#space = false
  }

  #put(text: string): void {
    this.#isOpened = false
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
    if (this.#isPre) {
      this.children(element)
      return
    }
    const fence = '`'.repeat(Math.max(3, findLongestRun(element) + 1))
    this.#mark(fence)
    this.#put(`\n${this.#prefix}`)
    this.#isPre = true
    this.children(element)
    this.#isPre = false
    if (this.#pieces.at(-1) !== `\n${this.#prefix}`) this.#put(`\n${this.#prefix}`)
    this.#put(fence)
  }

  #quote(element: Element): void {
    const outer = this.#prefix
    if (this.#isOpened) this.#open('> ')
    // The breaks before it belong to its surroundings.
    if (this.#length > 0 && this.#breaks > 0) {
      this.#put(`\n${outer}`.repeat(this.#breaks - 1))
      this.#breaks = 1
    }
    if (outer.length < PREFIX_CHARS) this.#prefix = `${outer}> `
    this.children(element)
    this.#prefix = outer
  }
}

/** Line breaks before and after an element. */
function countBreaks({ tagName, parentNode }: Element): number {
  if (!BLOCKS.has(tagName)) return 0
  const isInItem = parentNode !== null && isElement(parentNode) && parentNode.tagName === 'li'
  return /^(?:li|tr|option)$/.test(tagName) || (isInItem && /^(?:ul|ol|menu)$/.test(tagName)) ? 1 : 2
}

function readNumber(element: Element, name: string): number | undefined {
  const text = attribute(element, name)?.trim() ?? ''
  return /^-?\d{1,9}$/.test(text) ? Number(text) : undefined
}

/** Length of the longest run of backticks in a node's text. */
function findLongestRun(node: ChildNode): number {
  let longest = 0
  if (isText(node)) for (const [run] of node.value.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  if (isElement(node)) for (const child of node.childNodes) longest = Math.max(longest, findLongestRun(child))
  return longest
}

/** Returns a web address, or `undefined`. */
export function resolve(address: string | undefined, base: string): string | undefined {
  const url = address === undefined ? null : URL.parse(address.trim(), base)
  return url && /^https?:$/.test(url.protocol) && url.href.length <= 2000 ? url.href : undefined
}

function isSamePage(target: string, base: string): boolean {
  return target.split('#')[0] === base.split('#')[0]
}
