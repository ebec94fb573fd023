// Finds text that is displayed rather than interpreted: HTML elements for code, comments, CDATA, and TeX's verbatim.
// Reads one character at a time and keeps at most a name.

/** Elements that end with their paragraph if their closing tag is missing. */
const INLINE: ReadonlySet<string> = new Set(['code', 'samp', 'kbd', 'tt', 'var', 'q'])
/** Elements that end only with their closing tag. */
const BLOCKS: ReadonlySet<string> = new Set(
  'pre script style textarea xmp listing plaintext template blockquote noscript'.split(' '),
)
const VERBATIM = /^(begin|end)\{((?:verbatim|Verbatim|BVerbatim|lstlisting|minted|alltt|comment)\*?)\}$/
/** The end of each kind of section. */
const ENDS: Readonly<Record<string, string>> = { '<!--': '-->', '<![CDATA[': ']]>' }
const NAME_CHARS = 16
const MACRO_CHARS = 24

export class RawMarkup {
  /** The name of an open HTML element or TeX environment, or the text that ends it. */
  #inside: string | undefined
  /** A tag's name so far, including its slash, up to its maximum length. */
  #tag: string | undefined
  #hasName = false
  #macro: string | undefined
  #tail = ''

  get isInside(): boolean {
    return this.#inside !== undefined
  }

  push(char: string): void {
    this.#tail = (this.#tail + char).slice(-3)
    if (this.#inside !== undefined && this.#tail === this.#inside) this.#inside = undefined
    this.#readTag(char)
    this.#readMacro(char)
  }

  endParagraph(): void {
    if (this.#inside !== undefined && INLINE.has(this.#inside)) this.#inside = undefined
  }

  copy(): RawMarkup {
    const copy = new RawMarkup()
    copy.#inside = this.#inside
    copy.#tag = this.#tag
    copy.#hasName = this.#hasName
    copy.#macro = this.#macro
    copy.#tail = this.#tail
    return copy
  }

  #readTag(char: string): void {
    if (char === '<') {
      this.#tag = ''
      this.#hasName = false
    } else if (this.#tag !== undefined && char === '>') {
      this.#endTag(this.#tag.toLowerCase())
      this.#tag = undefined
    } else if (this.#tag !== undefined && !this.#hasName) {
      // Attributes may be long and span several lines.
      if (/\s/.test(char) || (char === '/' && this.#tag !== '')) this.#hasName = true
      else if (this.#tag.length >= NAME_CHARS) this.#tag = undefined
      else this.#tag += char
      const end = ENDS[`<${this.#tag ?? ''}`]
      if (end !== undefined) {
        this.#inside ??= end
        this.#tag = undefined
      }
    }
  }

  #endTag(tag: string): void {
    if (tag.startsWith('/')) {
      if (this.#inside === tag.slice(1)) this.#inside = undefined
    } else if (INLINE.has(tag) || BLOCKS.has(tag)) this.#inside ??= tag
  }

  #readMacro(char: string): void {
    if (char === '\\') this.#macro = ''
    else if (this.#macro !== undefined) {
      this.#macro = /[A-Za-z{}*]/.test(char) && this.#macro.length < MACRO_CHARS ? this.#macro + char : undefined
      const [, word, name] = VERBATIM.exec(this.#macro ?? '') ?? []
      if (name === undefined) return
      const inside = `\\${name}`
      if (word === 'begin') this.#inside ??= inside
      else if (this.#inside === inside) this.#inside = undefined
      this.#macro = undefined
    }
  }
}
