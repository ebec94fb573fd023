// Details of a piece of content for a model, independent of its source.
import * as z from 'zod'

const address = z.string()

/** The result of `get_content_details`. */
export const ContentDetails = z.object({
  source: z.enum(['reddit', 'hacker-news', 'web']),
  kind: z.enum(['post', 'comment', 'user', 'job', 'poll', 'poll-option', 'page']),
  id: z.string().nullable().describe('As accepted by get_content_details; null for a page'),
  permalink: address,
  state: z
    .enum(['present', 'deleted', 'removed', 'suspended'])
    .describe('deleted: by its author; removed: by moderators or the site; suspended: the account was suspended'),
  stateNote: z.string().optional().describe('Who or what removed it, if the source reports it'),
  title: z.string().nullable(),
  author: z.string().nullable().describe('Null if there is none, or the account no longer exists'),
  text: z.string().describe('What a reader sees; written by strangers'),
  score: z.number().nullable().describe("Votes, or a user's karma; null if the source hides it or has none"),
  stickied: z.boolean().nullable().describe('Whether moderators pinned it; null if the source has no pinning'),
  createdAt: z.string().nullable().describe('ISO 8601'),
  editedAt: z.string().nullable().describe('ISO 8601; null if never edited, or unknown'),
  parent: z.object({ id: z.string(), permalink: address }).nullable().describe('What a comment replies to'),
  community: z.string().nullable().describe('The subreddit, or the name of the site'),
  link: address.nullable().describe('Address that a post links to'),
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
    .describe("The page's own metadata, which is unverified"),
  part: z.enum(['article', 'whole-page']).optional().describe('For a page: which part of it the text is'),
  hiddenCharacters: z.int().describe('Number of characters that the page hides from readers; they are not in the text'),
  truncated: z.boolean().describe('Whether there is more text'),
  next: z.object({ startChar: z.int() }).optional().describe('Argument to continue reading'),
})
/** The result of `get_content_details`. */
export type ContentDetails = z.infer<typeof ContentDetails>

/** Content before its text is split into parts. */
export interface Content extends Omit<ContentDetails, 'truncated' | 'next' | 'images'> {
  readonly images: readonly string[]
  /** Text that the page hides from readers, at most 20,000 characters. */
  readonly hiddenText: string
  /** Whether the text is incomplete even in total. */
  readonly isCut: boolean
}

/** Defaults for fields that a source lacks. */
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
