// Exports of @baton/tools/openapi.
export { fromOpenApi, listOperations } from './from-openapi.ts'
export type { OpenApiOperation, OpenApiOptions } from './from-openapi.ts'
export type { ProgramFile } from './find-file.ts'
