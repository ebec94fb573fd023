// The tool that judges an image by requirements. This one measures; whatever needs eyes gets the verdict "unknown".
import { BatonError, tool } from '@baton/host'
import { z } from 'zod'

/** Pixels of the images of this example. */
const IMAGES: ReadonlyMap<string, { readonly width: number; readonly height: number }> = new Map([
  ['chart.png', { width: 1200, height: 800 }],
])

const Verdict = z.object({
  requirement: z.string(),
  verdict: z.enum(['met', 'not-met', 'unknown']),
  reason: z.string(),
})

export const analyzeImage = tool({
  name: 'analyze_image_for_visual_requirements',
  description: 'Says for each requirement, such as "at least 800 x 600", whether an image meets it, and why',
  input: z.object({
    image: z.string(),
    requirements: z.array(z.string()).min(1).max(10),
    references: z.array(z.string()).max(5).optional(),
  }),
  output: z.object({ verdicts: z.array(Verdict) }),
  effect: 'pure',
  execute: ({ image, requirements }) => {
    const size = IMAGES.get(image)
    if (!size) throw new BatonError({ code: 'tool_failed', message: `there is no image "${image}"` })
    return { verdicts: requirements.map((requirement) => judge(requirement, size)) }
  },
})

function judge(requirement: string, { width, height }: { width: number; height: number }): z.infer<typeof Verdict> {
  const [, atLeastWide, atLeastHigh] = /at least (\d+) x (\d+)/.exec(requirement) ?? []
  if (atLeastWide === undefined || atLeastHigh === undefined)
    return { requirement, verdict: 'unknown', reason: 'only sizes can be measured here' }
  const isMet = width >= Number(atLeastWide) && height >= Number(atLeastHigh)
  return { requirement, verdict: isMet ? 'met' : 'not-met', reason: `the image has ${width} x ${height} pixels` }
}
