// What users import from @baton/tools/openapi.
export { fromOpenApi } from './from-openapi.ts'
export type { OpenApiOptions } from './from-openapi.ts'
