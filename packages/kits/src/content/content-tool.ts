// `get_content_details`: one piece of content, in parts if its text is long.
import type { Tool, ToolContext } from '@baton/core'
import { tool } from '@baton/core'
import * as z from 'zod'
import type { KitTool } from '@baton/tools/internal'
import { cutWindow } from '../shared/pages/text-window.ts'
import type { ContentOptions, ContentReader } from './content-reader.ts'
import { CONTENT_ERRORS, createContentReader } from './content-reader.ts'
import { ContentDetails } from './details.ts'

/** Maximum UTF-16 units of text returned per call. */
const TEXT_CHARS = 20_000

const input = z
  .object({
    url: z.string().min(1).max(2000).optional().describe('Its address, starting with https://'),
    id: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe(
        'Instead of url: t3_ID, t1_ID or u/NAME on Reddit, hn:ID or hn:user:NAME on Hacker News, or an id that you were given',
      ),
    part: z
      .enum(['article', 'whole-page'])
      .optional()
      .describe('For a web page: its main part (the default) or all of it'),
    startChar: z.int().min(0).max(10_000_000).default(0).describe('Where to start in the text, as reported in "next"'),
  })
  .refine(({ url, id }) => (url === undefined) !== (id === undefined), {
    message: 'exactly one of url and id is required',
  })

/** Call events of this tool have typed arguments and results. */
export type ContentTool<Services = unknown> = KitTool<
  Tool<'get_content_details', z.infer<typeof input>, z.infer<typeof ContentDetails>>,
  Services
>

/** @throws BatonError `invalid_option` */
export function contentTools<Services = unknown>(
  given: ContentOptions<Services> | { readonly reader: ContentReader<Services> } = {},
): readonly ContentTool<Services>[] {
  const reader = 'reader' in given ? given.reader : createContentReader(given, 'contentTools')
  return [
    tool({
      name: 'get_content_details',
      title: 'Read content',
      kind: 'fetch',
      description:
        'Reads a Reddit post, comment or user, a Hacker News item or user, or a web page: its text, author, score, times, parent, pictures, and whether it was deleted or removed. Give either url or id.',
      effect: 'pure',
      trust: 'untrusted', // written by strangers
      network: true,
      timeoutMs: reader.timeoutMs,
      errors: CONTENT_ERRORS,
      describe: ({ url, id }) => ({ title: `Read ${(url ?? id ?? '').slice(0, 150)}` }),
      input,
      output: ContentDetails,
      execute: async ({ startChar, ...question }, context) => {
        // as declared by the program that created the tool
        const { hiddenText: _, isCut, ...content } = await reader.read(question, context as ToolContext<Services>)
        const { text, truncated, nextChar } = cutWindow(content.text, startChar, TEXT_CHARS)
        return {
          ...content,
          images: [...content.images],
          text,
          truncated: truncated || isCut,
          ...(nextChar !== undefined && { next: { startChar: nextChar } }),
        }
      },
    }),
  ]
}
