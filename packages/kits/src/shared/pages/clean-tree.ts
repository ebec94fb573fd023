// Cleans the tree of a page in one pass: removes and reports invisible content, and bounds depth and size. The tree
// comes from parse5, which parses HTML as browsers do.
import type { DefaultTreeAdapterTypes } from 'parse5'
import type { HidingRule } from './hiding-styles.ts'
import { isHiding, matchesRule, readHidingRules } from './hiding-styles.ts'

export type Element = DefaultTreeAdapterTypes.Element
export type ChildNode = DefaultTreeAdapterTypes.ChildNode
export type ParentNode = DefaultTreeAdapterTypes.ParentNode

/** Maximum elements of a page; the rest is dropped. */
const ELEMENTS = 30_000
/** Deeper elements become plain text, because Readability is quadratic in the depth. */
const DEPTH = 80
const HIDDEN_CHARS = 20_000

/** Elements that are never visible text. */
const DROPPED: ReadonlySet<string> = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'iframe',
  'frame',
  'frameset',
  'object',
  'embed',
  'applet',
  'canvas',
  'audio',
  'video',
  'svg',
  'math',
  'head',
  'link',
  'meta',
  'base',
])

export interface Cleaned {
  readonly hiddenText: string
  readonly hiddenCharacters: number
  readonly isCut: boolean
  readonly elements: number
}

/** Modifies the tree. */
export function cleanTree(root: ParentNode): Cleaned {
  const rules = readHidingRules(findSheets(root))
  const hidden: string[] = []
  let hiddenCharacters = 0
  let kept = 0
  let elements = 0
  const waiting: { readonly parent: ParentNode; readonly depth: number }[] = [{ parent: root, depth: 0 }]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { parent, depth } = next
    const children: ChildNode[] = []
    for (const child of parent.childNodes) {
      if (isText(child)) children.push(child)
      if (!isElement(child) || DROPPED.has(child.tagName)) continue
      if (isHidden(child, rules)) {
        const text = readText(child).replaceAll(/\s+/g, ' ').trim()
        hiddenCharacters += text.length
        if (text !== '' && kept < HIDDEN_CHARS) hidden.push(text.slice(0, HIDDEN_CHARS - kept))
        kept += text.length
        continue
      }
      elements += 1
      if (elements > ELEMENTS) continue
      children.push(child)
      if (depth < DEPTH) waiting.push({ parent: child, depth: depth + 1 })
      else flatten(child, rules)
    }
    parent.childNodes = children
  }
  return {
    hiddenText: hidden.join('\n'),
    hiddenCharacters,
    isCut: elements > ELEMENTS,
    elements: Math.min(elements, ELEMENTS),
  }
}

export function isElement(node: DefaultTreeAdapterTypes.Node): node is Element {
  return 'tagName' in node
}

export function isText(node: DefaultTreeAdapterTypes.Node): node is DefaultTreeAdapterTypes.TextNode {
  return node.nodeName === '#text'
}

export function attribute(element: Element, name: string): string | undefined {
  return element.attrs.find((one) => one.name === name)?.value
}

/** Yields all elements in document order. */
export function* walkElements(root: ParentNode): Generator<Element> {
  const waiting: DefaultTreeAdapterTypes.Node[] = [...root.childNodes].toReversed()
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (!isElement(node)) continue
    yield node
    for (const child of node.childNodes.toReversed()) waiting.push(child)
  }
}

/** Returns all text inside, except scripts and styles. */
export function readText(root: ParentNode): string {
  const texts: string[] = []
  const waiting: DefaultTreeAdapterTypes.Node[] = root.childNodes.toReversed()
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (isText(node)) texts.push(node.value)
    else if (isElement(node) && !DROPPED.has(node.tagName))
      for (const child of node.childNodes.toReversed()) waiting.push(child)
  }
  return texts.join(' ')
}

function findSheets(root: ParentNode): readonly string[] {
  const sheets: string[] = []
  for (const element of walkElements(root)) {
    const media = attribute(element, 'media') ?? 'all'
    if (element.tagName === 'style' && /^(?:all|screen)?$/i.test(media.trim()))
      sheets.push(element.childNodes.map((child) => (isText(child) ? child.value : '')).join(''))
  }
  return sheets
}

function isHidden(element: Element, rules: readonly HidingRule[]): boolean {
  if (attribute(element, 'hidden') !== undefined) return true
  if (element.tagName === 'input' && attribute(element, 'type')?.toLowerCase() === 'hidden') return true
  const style = attribute(element, 'style')
  if (style !== undefined && isHiding(style)) return true
  if (rules.length === 0) return false
  const styled = {
    tag: element.tagName,
    id: attribute(element, 'id') ?? '',
    classes: new Set((attribute(element, 'class') ?? '').split(/\s+/)),
  }
  return rules.some((rule) => matchesRule(rule, styled))
}

/** Reduces the element to a single text. Hidden parts at this depth are dropped. */
function flatten(element: Element, rules: readonly HidingRule[]): void {
  const texts: string[] = []
  const waiting: ChildNode[] = element.childNodes.toReversed()
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (isText(node)) texts.push(node.value)
    else if (isElement(node) && !DROPPED.has(node.tagName) && !isHidden(node, rules))
      for (const child of node.childNodes.toReversed()) waiting.push(child)
  }
  const value = texts.join(' ')
  element.childNodes = [{ nodeName: '#text', value, parentNode: element }]
}
