// Details of a piece of content for a model, whatever its source.
import * as z from 'zod'

const address = z.string()

export const ContentDetails = z.object({
  source: z.enum(['reddit', 'hacker-news', 'web']),
  kind: z.enum(['post', 'comment', 'user', 'job', 'poll', 'poll-option', 'page']),
  id: z.string().nullable().describe('As get_content_details takes it; null for a page'),
  permalink: address,
  state: z
    .enum(['present', 'deleted', 'removed', 'suspended'])
    .describe('deleted: by its author; removed: by moderators or the site; suspended: the account is'),
  stateNote: z.string().optional().describe('Who or what removed it, where the source says so'),
  title: z.string().nullable(),
  author: z.string().nullable().describe('Null: there is none, or the account is gone'),
  text: z.string().describe('What a reader sees; written by strangers'),
  score: z.number().nullable().describe('Votes, or the karma of a user; null where the source hides it or has none'),
  stickied: z.boolean().nullable().describe('Whether moderators pinned it; null where there is no such thing'),
  createdAt: z.string().nullable().describe('ISO 8601'),
  editedAt: z.string().nullable().describe('ISO 8601; null: never, or the source does not say'),
  parent: z.object({ id: z.string(), permalink: address }).nullable().describe('What a comment answers'),
  community: z.string().nullable().describe('The subreddit, or the name of the site'),
  link: address.nullable().describe('Where a post links to'),
  images: z.array(address).describe('Addresses of its pictures'),
  openGraph: z
    .object({
      title: z.string().optional(),
      description: z.string().optional(),
      image: z.string().optional(),
      type: z.string().optional(),
      siteName: z.string().optional(),
      url: z.string().optional(),
    })
    .optional()
    .describe('What a page says of itself; nobody has checked it'),
  part: z.enum(['article', 'whole-page']).optional().describe('Of a page: which part of it the text is'),
  hiddenCharacters: z.int().describe('Characters that the page hides from a reader; they are not in the text'),
  truncated: z.boolean().describe('Whether the text goes on'),
  next: z.object({ startChar: z.int() }).optional().describe('With which argument to read on'),
})
export type ContentDetails = z.infer<typeof ContentDetails>

/** Before the text is cut. */
export interface Content extends Omit<ContentDetails, 'truncated' | 'next' | 'images'> {
  readonly images: readonly string[]
  /** Text that the page hides from a reader, at most 20,000 characters. */
  readonly hiddenText: string
  /** True: even the whole text is not all of it. */
  readonly isCut: boolean
}

/** Defaults for a source that lacks these. */
export const NOTHING = {
  title: null,
  author: null,
  text: '',
  score: null,
  stickied: null,
  createdAt: null,
  editedAt: null,
  parent: null,
  community: null,
  link: null,
  images: [],
  hiddenText: '',
  hiddenCharacters: 0,
  isCut: false,
} as const

export function toIso(seconds: number | null | undefined): string | null {
  const time = typeof seconds === 'number' ? new Date(seconds * 1000) : undefined
  return time && !Number.isNaN(time.getTime()) ? time.toISOString() : null
}
