// Finds deceptive links: another target than the text says, numbers or foreign letters instead of a name, misplaced
// brands, names and passwords, executables, and services that hide the target.
import { isIP } from 'node:net'
import type { Finding } from './finding.ts'
import { RULE_MAX } from './finding.ts'

const SHORTENERS = new Set(
  'bit.ly tinyurl.com t.co goo.gl is.gd ow.ly buff.ly cutt.ly rb.gy rebrand.ly shorturl.at t.ly tiny.cc v.gd'.split(
    ' ',
  ),
)
/** Names that attackers put into their own hosts. */
const BRANDS =
  'amazon apple binance coinbase dropbox facebook github google instagram metamask microsoft netflix paypal reddit steam telegram whatsapp'.split(
    ' ',
  )
/** Longer addresses are truncated. */
const ADDRESS = /\bhttps?:\/\/(?:\[[0-9a-f:.]{2,50}\])?[^\s<>"'`)\]}]{1,2000}/gi
const MARKDOWN = /\[([^\]\n]{1,300})\]\(\s{0,3}<?([a-z]{2,12}:[^\s)>]{1,2000})/gi
const ANCHOR = /<a\s[^>]{0,300}?href\s{0,3}=\s{0,3}["']?([a-z]{2,12}:[^"'\s>]{1,2000})["']?[^>]{0,300}>([^<]{1,300})</gi
const PROGRAM =
  /\b(?:javascript|vbscript):[^\s<>"']{1,500}|\bdata:(?:text\/html|application\/(?:xhtml\+xml|javascript))[^\s<>"')]{1,500}/gi
const SCRIPT = /<\s{0,3}(?:script|iframe|object|embed)\b|\son(?:error|load|click|mouseover|focus)\s{0,3}=\s{0,3}["']/gi

export function findLinks(text: string): readonly Finding[] {
  const found: Finding[] = []
  const add = (
    match: RegExpMatchArray,
    about: Pick<Finding, 'rule' | 'weight' | 'reveals' | 'category'> | undefined,
  ): void => {
    if (about && found.length < RULE_MAX * 4)
      found.push({ ...about, start: match.index ?? 0, end: (match.index ?? 0) + match[0].length })
  }
  for (const match of text.matchAll(ADDRESS)) add(match, judgeAddress(match[0]))
  for (const match of text.matchAll(MARKDOWN)) add(match, judgeWords(match[1] ?? '', match[2] ?? ''))
  for (const match of text.matchAll(ANCHOR)) add(match, judgeWords(match[2] ?? '', match[1] ?? ''))
  for (const match of text.matchAll(PROGRAM))
    add(match, { category: 'script', rule: 'script/address', weight: 'malicious' })
  for (const match of text.matchAll(SCRIPT))
    add(match, { category: 'script', rule: 'script/element', weight: 'suspicious' })
  return found
}

type About = Pick<Finding, 'rule' | 'weight' | 'reveals' | 'category'>

function judgeAddress(address: string): About | undefined {
  const url = readUrl(address)
  if (!url) return undefined
  const host = url.hostname.replaceAll(/^\[|\]$|\.$/g, '')
  const link = (name: string, weight: Finding['weight'], reveals?: string): About => ({
    category: 'links',
    rule: `links/${name}`,
    weight,
    ...(reveals !== undefined && { reveals }),
  })
  if (url.username !== '' || url.password !== '') return link('name-before-host', 'malicious', host)
  if (isIP(host) !== 0) return link('number', host === '127.0.0.1' || host === '::1' ? 'suspicious' : 'malicious', host)
  if (/(?:^|\.)xn--/.test(host)) return link('foreign-letters', 'suspicious', host)
  if (SHORTENERS.has(host.replace(/^www\./, ''))) return link('shortener', 'suspicious', host)
  const brand = findBrand(host)
  return brand === undefined ? undefined : link('brand', 'malicious', brand)
}

/** A brand as a label of an unrelated host: `paypal.com.login.example`, `secure-paypal.example`. */
function findBrand(host: string): string | undefined {
  const labels = host.split('.')
  // Brands own their name under any ending: amazon.co.uk, google.de.
  const owner =
    labels.at(-2)?.length === 2 || /^(?:co|com|org|net|gov|ac)$/.test(labels.at(-2) ?? '')
      ? labels.at(-3)
      : labels.at(-2)
  if (owner === undefined) return undefined
  return BRANDS.find((brand) => {
    if (owner === brand) return false
    const isBelow =
      labels.slice(0, -2).includes(brand) &&
      labels.slice(0, -1).some((label, at) => label === brand && /^(?:com|net|org)$/.test(labels[at + 1] ?? ''))
    const isPart =
      owner.split('-').includes(brand) &&
      /(?:secure|login|verify|account|support|wallet|update|signin|help|bonus|gift)/.test(owner)
    return isBelow || isPart || isTypo(owner, brand)
  })
}

/** One digit in place of a letter: `paypa1`, `g00gle`. */
function isTypo(label: string, brand: string): boolean {
  if (!/\d/.test(label) || label.length !== brand.length) return false
  return (
    label
      .replaceAll('0', 'o')
      .replaceAll('1', brand.includes('l') ? 'l' : 'i')
      .replaceAll('3', 'e')
      .replaceAll('5', 's') === brand
  )
}

/** Link text that is itself an address, but of another host than the target. */
function judgeWords(words: string, target: string): About | undefined {
  const [said] = /(?:[a-z0-9-]{1,63}\.){1,5}[a-z]{2,18}\b/i.exec(words) ?? []
  const url = readUrl(target)
  if (said === undefined || !url || !/^https?:$/.test(url.protocol)) return undefined
  const [shown, real] = [said, url.hostname].map((host) => host.toLowerCase().replace(/^www\./, ''))
  if (
    shown === undefined ||
    real === undefined ||
    real === shown ||
    real.endsWith(`.${shown}`) ||
    shown.endsWith(`.${real}`)
  )
    return undefined
  if (!/\.(?:com|org|net|io|de|fr|es|co|gov|edu|uk|eu|app|dev|ai)$/.test(shown)) return undefined
  return { category: 'links', rule: 'links/other-target', weight: 'malicious', reveals: url.hostname }
}

function readUrl(address: string): URL | undefined {
  return URL.canParse(address) ? new URL(address) : undefined
}
