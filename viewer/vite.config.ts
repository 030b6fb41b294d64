import { defineConfig, type Plugin } from "vite";

/** Puts scripts and styles into the page, so that the page is one file. */
function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") throw new Error("there is no index.html in the bundle");
      let html = String(page.source);
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type === "chunk") {
          // Within a page, the end of a script is wherever this word stands.
          const code = file.code.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
          html = html.replace(/\s*<script type="module"[^>]*><\/script>/, "");
          // Before the numbers: of a page that was cut short it says so.
          html = html.replace("</head>", () => `<script type="module">${code}</script>\n  </head>`);
          delete bundle[name];
        } else if (name.endsWith(".css")) {
          html = html.replace(/\s*<link rel="stylesheet"[^>]*>/, "");
          html = html.replace("</head>", () => `<style>${String(file.source)}</style>\n  </head>`);
          delete bundle[name];
        }
      }
      page.source = html;
      page.fileName = "viewer.html";
    },
  };
}

export default defineConfig({
  build: { target: "es2022", cssCodeSplit: false, modulePreload: false, assetsInlineLimit: 1e8, chunkSizeWarningLimit: 2000 },
  plugins: [oneFile()],
});
