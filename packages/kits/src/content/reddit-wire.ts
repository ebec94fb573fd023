// Reddit's JSON things and their meaning. Sources: https://www.reddit.com/dev/api (fullnames, raw_json=1),
// https://github.com/reddit-archive/reddit/wiki/JSON (kinds, `edited: false` or seconds, `created_utc`, `[deleted]`),
// and answers in the tests of public clients (github.com/turnage/graw, github.com/OmgImAlexis/snoo-wrapped); excerpts
// of both, seen in 2026-11.
import * as z from 'zod'
import { resolve } from '../shared/pages/html-text.ts'
import type { Content } from './details.ts'
import { NOTHING, toIso } from './details.ts'

const SITE = 'https://www.reddit.com'
/** Reddit's placeholder for the author of a deleted account and for a text its author deleted. */
const DELETED = '[deleted]'
const REMOVED = /^\[\s*removed(?: by [\w ]{1,40})?\s*\]$/i
const IMAGES = 20

const common = {
  name: z.string(),
  author: z.string().nullish(),
  score: z.number().nullish(),
  created_utc: z.number().nullish(),
  /** Seconds; true for edits in the first years, whose time is unknown. */
  edited: z.union([z.boolean(), z.number()]).nullish(),
  permalink: z.string(),
  stickied: z.boolean().nullish(),
  subreddit: z.string().nullish(),
}

const Comment = z.object({
  kind: z.literal('t1'),
  data: z.looseObject({
    ...common,
    body: z.string().nullish(),
    parent_id: z.string(),
    score_hidden: z.boolean().nullish(),
    link_id: z.string(),
  }),
})
const Post = z.object({
  kind: z.literal('t3'),
  data: z.looseObject({
    ...common,
    title: z.string(),
    selftext: z.string().nullish(),
    is_self: z.boolean().nullish(),
    url: z.string().nullish(),
    hide_score: z.boolean().nullish(),
    removed_by_category: z.string().nullish(),
    /** Pictures of a gallery: `{ ID: { e: "Image", s: { u: address } } }`. */
    media_metadata: z
      .record(
        z.string(),
        z.looseObject({ e: z.string().nullish(), s: z.looseObject({ u: z.string().nullish() }).nullish() }),
      )
      .nullish(),
  }),
})
export const Listing = z.object({
  kind: z.literal('Listing'),
  data: z.object({ children: z.array(z.discriminatedUnion('kind', [Comment, Post])) }),
})
export const Account = z.object({
  kind: z.literal('t2'),
  data: z.looseObject({
    name: z.string(),
    created_utc: z.number().nullish(),
    link_karma: z.number().nullish(),
    comment_karma: z.number().nullish(),
    total_karma: z.number().nullish(),
    is_suspended: z.boolean().nullish(),
    subreddit: z.looseObject({ public_description: z.string().nullish() }).nullish(),
  }),
})
export const Token = z.object({
  access_token: z.string().min(1),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.number().positive(),
})

type Thing = z.infer<typeof Listing>['data']['children'][number]

export function toContent({ kind, data }: Thing): Content {
  const body = (kind === 't1' ? data.body : data.selftext) ?? ''
  const { state, stateNote } = readState(body.trim(), kind === 't3' ? data.removed_by_category : undefined)
  const isHidden = kind === 't1' ? data.score_hidden : data.hide_score
  return {
    ...NOTHING,
    source: 'reddit',
    kind: kind === 't1' ? 'comment' : 'post',
    id: data.name,
    permalink: readPermalink(data.permalink),
    state,
    ...(stateNote !== undefined && { stateNote }),
    title: kind === 't3' ? data.title : null,
    author: data.author === DELETED ? null : (data.author ?? null),
    text: state === 'present' ? body : '',
    score: isHidden ? null : (data.score ?? null),
    stickied: data.stickied ?? null,
    createdAt: toIso(data.created_utc),
    editedAt: typeof data.edited === 'number' ? toIso(data.edited) : null,
    community: data.subreddit ?? null,
    ...(kind === 't1' ? { parent: { id: data.parent_id, permalink: parentOf(data) } } : readMedia(data)),
  }
}

/** Address of a path on the site; the site itself if it leads elsewhere. */
function readPermalink(path: string): string {
  const address = resolve(path, SITE)
  return address?.startsWith(`${SITE}/`) ? address : SITE
}

/** The text reveals the state. For a post, so does the removal category: `deleted` means its author deleted it. */
function readState(body: string, category: string | null | undefined): Pick<Content, 'state' | 'stateNote'> {
  if (category === 'deleted' || category === 'author' || body === DELETED) return { state: 'deleted' }
  if (category) return { state: 'removed', stateNote: `by ${category.replaceAll(/[^\w ]/g, '').slice(0, 60)}` }
  return { state: REMOVED.test(body) ? 'removed' : 'present' }
}

function parentOf({ parent_id, link_id }: z.infer<typeof Comment>['data']): string {
  const post = `${SITE}/comments/${link_id.slice(3)}/`
  return parent_id.startsWith('t1_') ? `${post}comment/${parent_id.slice(3)}/` : post
}

function readMedia({ is_self, url, media_metadata }: z.infer<typeof Post>['data']): Pick<Content, 'link' | 'images'> {
  const link = is_self === true ? undefined : resolve(url ?? undefined, SITE)
  const gallery = Object.values(media_metadata ?? {}).flatMap(({ e, s }) =>
    e === 'Image' ? (resolve(s?.u ?? undefined, SITE) ?? []) : [],
  )
  const isImage =
    link !== undefined && (link.startsWith('https://i.redd.it/') || /\.(?:png|jpe?g|gif|webp)$/i.test(link))
  return { link: link ?? null, images: [...(isImage ? [link] : []), ...gallery].slice(0, IMAGES) }
}

export function toUser({ data }: z.infer<typeof Account>): Content {
  const { name, link_karma, comment_karma, total_karma, is_suspended, created_utc, subreddit } = data
  const karma =
    total_karma ?? (link_karma === null || link_karma === undefined ? null : link_karma + (comment_karma ?? 0))
  return {
    ...NOTHING,
    source: 'reddit',
    kind: 'user',
    id: `u/${name}`,
    permalink: `${SITE}/user/${encodeURIComponent(name)}/`,
    state: is_suspended ? 'suspended' : 'present',
    author: name,
    text: subreddit?.public_description ?? '',
    score: karma,
    createdAt: toIso(created_utc),
  }
}
