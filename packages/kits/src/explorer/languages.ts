// Languages by file name. Counts only what a person would call code or a document.
const BY_ENDING: Readonly<Record<string, string>> = {
  ...endings('TypeScript', 'ts tsx mts cts'),
  ...endings('JavaScript', 'js jsx mjs cjs'),
  ...endings('Python', 'py pyi'),
  ...endings('Go', 'go'),
  ...endings('Rust', 'rs'),
  ...endings('Java', 'java'),
  ...endings('Kotlin', 'kt kts'),
  ...endings('Swift', 'swift'),
  ...endings('C', 'c h'),
  ...endings('C++', 'cc cpp cxx hpp hh hxx'),
  ...endings('C#', 'cs'),
  ...endings('F#', 'fs fsx'),
  ...endings('Ruby', 'rb rake gemspec'),
  ...endings('PHP', 'php'),
  ...endings('Scala', 'scala sc'),
  ...endings('Clojure', 'clj cljs cljc edn'),
  ...endings('Elixir', 'ex exs'),
  ...endings('Erlang', 'erl hrl'),
  ...endings('Haskell', 'hs'),
  ...endings('OCaml', 'ml mli'),
  ...endings('Dart', 'dart'),
  ...endings('Lua', 'lua'),
  ...endings('Perl', 'pl pm'),
  ...endings('R', 'r'),
  ...endings('Julia', 'jl'),
  ...endings('Zig', 'zig'),
  ...endings('Nim', 'nim'),
  ...endings('Objective-C', 'm mm'),
  ...endings('Shell', 'sh bash zsh fish'),
  ...endings('PowerShell', 'ps1 psm1'),
  ...endings('SQL', 'sql'),
  ...endings('GraphQL', 'graphql gql'),
  ...endings('Protocol Buffers', 'proto'),
  ...endings('HTML', 'html htm'),
  ...endings('CSS', 'css scss sass less'),
  ...endings('Vue', 'vue'),
  ...endings('Svelte', 'svelte'),
  ...endings('Astro', 'astro'),
  ...endings('Terraform', 'tf'),
  ...endings('Nix', 'nix'),
  ...endings('TOML', 'toml'),
  ...endings('YAML', 'yaml yml'),
  ...endings('JSON', 'json jsonc json5'),
  ...endings('XML', 'xml xsd xsl'),
  ...endings('Markdown', 'md mdx markdown'),
  ...endings('reStructuredText', 'rst'),
}
const BY_NAME: Readonly<Record<string, string>> = {
  dockerfile: 'Dockerfile',
  makefile: 'Makefile',
  gnumakefile: 'Makefile',
  'cmakelists.txt': 'CMake',
  justfile: 'Just',
  rakefile: 'Ruby',
  gemfile: 'Ruby',
}

/** Generated files, whose lines say nothing about a project. */
const GENERATED =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|bun\.lock|composer\.lock|deno\.lock)$|\.min\.(?:js|css)$|\.map$/

/** Returns `undefined` for files of an unknown language. */
export function nameLanguage(path: string): string | undefined {
  if (GENERATED.test(path)) return undefined
  const name = (path.split('/').at(-1) ?? '').toLowerCase()
  if (Object.hasOwn(BY_NAME, name)) return BY_NAME[name]
  const ending = /\.([a-z0-9]+)$/.exec(name)?.[1] ?? ''
  return Object.hasOwn(BY_ENDING, ending) ? BY_ENDING[ending] : undefined
}

function endings(language: string, list: string): Readonly<Record<string, string>> {
  return Object.fromEntries(list.split(' ').map((ending) => [ending, language]))
}
