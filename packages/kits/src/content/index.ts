// Exports of @baton/kits/content.
export { createContentReader } from './content-reader.ts'
export type { ContentOptions, ContentQuestion, ContentReader } from './content-reader.ts'
export { contentTools } from './content-tool.ts'
export type { Content, ContentDetails } from './details.ts'
export type { RedditOptions } from './reddit.ts'
export type { ContentTool } from './content-tool.ts'
