// Exports of @baton/kits/vision.
export { visionTools } from './image-tool.ts'
export type { VisionOptions, VisionTool } from './image-tool.ts'
export { measureImage } from './measure-image.ts'
export type { ImageType, Measured } from './measure-image.ts'
