// Classifies an address or id as Reddit, Hacker News or a web page, without any request.
import { BatonError } from '@baton/core'
import { readAddress } from '@baton/tools/internal'

export type Target =
  /** A fullname, such as `t3_8xwlg`: https://www.reddit.com/dev/api#fullnames */
  | { readonly type: 'reddit-thing'; readonly fullname: string }
  | { readonly type: 'reddit-user'; readonly name: string }
  /** A share link, which redirects to its target. */
  | { readonly type: 'reddit-share'; readonly path: string }
  | { readonly type: 'hacker-news-item'; readonly id: string }
  | { readonly type: 'hacker-news-user'; readonly name: string }
  | { readonly type: 'page'; readonly url: string }

const BASE36 = /^[a-z0-9]{1,13}$/i
const NAME = /^[\w-]{1,40}$/

/** @throws BatonError `invalid_arguments` */
export function readId(id: string): Target {
  const thing = /^(t[13])_([a-z0-9]{1,13})$/i.exec(id)
  if (thing) return { type: 'reddit-thing', fullname: id.toLowerCase() }
  const user = /^\/?u(?:ser)?\/([\w-]{1,40})$/.exec(id)?.[1]
  if (user !== undefined) return { type: 'reddit-user', name: user }
  const item = /^hn:(\d{1,12})$/.exec(id)?.[1]
  if (item !== undefined) return { type: 'hacker-news-item', id: item }
  const member = /^hn:user:([\w-]{1,40})$/.exec(id)?.[1]
  if (member !== undefined) return { type: 'hacker-news-user', name: member }
  throw wrong(
    `"${id.slice(0, 100)}" is not a known id: use t3_ID (a Reddit post), t1_ID (a comment), u/NAME (a user), hn:ID (a Hacker News item) or hn:user:NAME, or give url`,
  )
}

/** @throws BatonError `invalid_arguments` */
export function readUrl(address: string): Target {
  const url = readAddress(address)
  const host = url.hostname.toLowerCase().replace(/\.$/, '')
  if (host === 'redd.it') return readShort(url)
  if (host === 'reddit.com' || host.endsWith('.reddit.com')) return readReddit(url)
  if (host === 'news.ycombinator.com') return readHackerNews(url)
  return { type: 'page', url: url.href }
}

function readShort(url: URL): Target {
  const id = url.pathname.slice(1).replace(/\/$/, '')
  if (BASE36.test(id)) return { type: 'reddit-thing', fullname: `t3_${id.toLowerCase()}` }
  throw wrong(`${url.href.slice(0, 200)} is not a Reddit post`)
}

/**
 * `/r/SUB/comments/POST/slug/COMMENT`, the same under `/user/NAME` or without both,
 * `/r/SUB/comments/POST/comment/COMMENT`, `/gallery/POST`, `/user/NAME`, `/r/SUB/s/SHARE`.
 */
function readReddit(url: URL): Target {
  const parts = url.pathname
    .replace(/(?:\/?\.json)?\/*$/, '')
    .split('/')
    .slice(1)
  const [first = '', second = ''] = parts
  const isWithin = /^(?:r|u|user)$/.test(first) && NAME.test(second)
  const [what = '', post = '', slug, comment] = isWithin ? parts.slice(2) : parts
  if ((what === 'comments' || what === 'gallery') && BASE36.test(post)) {
    if (what === 'comments' && slug !== undefined && comment !== undefined && BASE36.test(comment))
      return { type: 'reddit-thing', fullname: `t1_${comment.toLowerCase()}` }
    return { type: 'reddit-thing', fullname: `t3_${post.toLowerCase()}` }
  }
  if (isWithin && what === 's' && /^\w{1,40}$/.test(post)) return { type: 'reddit-share', path: url.pathname }
  if (isWithin && first !== 'r' && what === '') return { type: 'reddit-user', name: second }
  throw wrong(
    `${url.href.slice(0, 200)} is not a Reddit post, comment or user: use the address of one of these, such as https://www.reddit.com/r/SUB/comments/ID`,
  )
}

function readHackerNews(url: URL): Target {
  const id = url.searchParams.get('id') ?? ''
  if (url.pathname === '/item' && /^\d{1,12}$/.test(id)) return { type: 'hacker-news-item', id }
  if (url.pathname === '/user' && NAME.test(id)) return { type: 'hacker-news-user', name: id }
  return { type: 'page', url: url.href }
}

function wrong(message: string): BatonError {
  return new BatonError({ code: 'invalid_arguments', message })
}
