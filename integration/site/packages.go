package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// ownTests are the packages of the library that only its own tests have a use for.
var ownTests = []string{
	"framework/ranked", "framework/zktest/explore", "framework/zktest/printtest", "recipes/cache/cachetest", "recipes/cache/porttest",
	"recipes/journaltest", "recipes/leader/leadertest", "recipes/locks/lockstest", "recipes/nodes/nodestest",
}

// besideLibrary are packages for users in other modules of the repository.
var besideLibrary = []string{"examples/zklock/txnlog"}

// isShown reports whether the site has a page of what go doc shows of a directory. It has one of each package of the
// library that users can import, and of those besideLibrary.
func isShown(dir string) bool {
	top, _, _ := strings.Cut(dir, "/")
	return slices.Contains([]string{"framework", "recipes", "retry"}, top) && !strings.Contains("/"+dir+"/", "/internal/") &&
		!slices.Contains(ownTests, dir) || slices.Contains(besideLibrary, dir)
}

// packagePage is where the page of a package lies among those of the site.
func packagePage(dir string) string { return "packages/" + dir + ".md" }

// packages returns a page of each package that is shown, by where it lies.
func (s site) packages() (map[string][]byte, error) {
	texts := map[string][]byte{}
	err := filepath.WalkDir(s.dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || name == s.dir {
			return err
		}
		dir, err := filepath.Rel(s.dir, name)
		if err != nil {
			return err
		}
		dir = filepath.ToSlash(dir)
		if top, _, _ := strings.Cut(dir, "/"); !isShown(top) && top != "examples" {
			return fs.SkipDir
		}
		if sources, err := filepath.Glob(filepath.Join(name, "*.go")); err != nil || len(sources) == 0 || !isShown(dir) {
			return err
		}
		if texts[packagePage(dir)], err = s.packageText(dir); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		return nil
	})
	return texts, err
}

// packageText is the page of a package.
func (s site) packageText(dir string) ([]byte, error) {
	bp, err := build.ImportDir(filepath.Join(s.dir, dir), 0)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range slices.Concat(bp.GoFiles, bp.TestGoFiles, bp.XTestGoFiles) {
		file, err := parser.ParseFile(set, filepath.Join(bp.Dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	pkg, err := doc.NewFromFiles(set, files, module+"/"+dir)
	if err != nil {
		return nil, err
	}
	p := packagePrinter{pkg: pkg, set: set, markdown: pkg.Printer()}
	p.markdown.HeadingLevel = 2
	p.markdown.DocLinkURL = func(link *comment.DocLink) string { return docLink(dir, link) }
	p.page()
	fmt.Fprintf(&p.out, "\nThe sources are in [%s](%s).\n", dir, s.address("tree", dir))
	return p.out.Bytes(), p.err
}

// docLink is the link from the page of a package to what a comment names.
func docLink(dir string, link *comment.DocLink) string {
	name := link.Name
	if link.Recv != "" {
		name = link.Recv + "." + name
	}
	if name != "" {
		name = "#" + name
	}
	if link.ImportPath == "" {
		return name
	}
	other, ours := strings.CutPrefix(link.ImportPath, module+"/")
	if ours && isShown(other) {
		return relative(packagePage(dir), packagePage(other)) + name
	}
	return "https://pkg.go.dev/" + link.ImportPath + name
}

// A packagePrinter writes what a package exports.
type packagePrinter struct {
	pkg      *doc.Package
	set      *token.FileSet
	markdown *comment.Printer
	out      bytes.Buffer
	err      error
}

func (p *packagePrinter) page() {
	fmt.Fprintf(&p.out, "# Package %s\n\n```go\nimport %q\n```\n\n", p.pkg.Name, p.pkg.ImportPath)
	p.out.Write(p.markdown.Markdown(p.pkg.Parser().Parse(p.pkg.Doc)))
	p.examples(p.pkg.Examples)
	p.values("Constants", p.pkg.Consts)
	p.values("Variables", p.pkg.Vars)
	if len(p.pkg.Funcs) > 0 {
		p.out.WriteString("\n## Functions\n")
		p.funcs(3, p.pkg.Funcs)
	}
	if len(p.pkg.Types) > 0 {
		p.out.WriteString("\n## Types\n")
	}
	for _, t := range p.pkg.Types {
		p.symbol(3, t.Name, t.Decl, t.Doc, members(t)...)
		p.examples(t.Examples)
		p.declarations(t.Consts)
		p.declarations(t.Vars)
		p.funcs(4, t.Funcs)
		p.funcs(4, t.Methods)
	}
}

func (p *packagePrinter) values(title string, values []*doc.Value) {
	if len(values) > 0 {
		fmt.Fprintf(&p.out, "\n## %s\n", title)
		p.declarations(values)
	}
}

func (p *packagePrinter) declarations(values []*doc.Value) {
	for _, v := range values {
		p.declaration(v.Decl, v.Doc, v.Names...)
	}
}

func (p *packagePrinter) funcs(level int, funcs []*doc.Func) {
	for _, f := range funcs {
		name := f.Name
		if f.Recv != "" {
			receiver, _, _ := strings.Cut(strings.TrimPrefix(f.Recv, "*"), "[")
			name = receiver + "." + name
		}
		p.symbol(level, name, f.Decl, f.Doc)
		p.examples(f.Examples)
	}
}

func (p *packagePrinter) symbol(level int, name string, decl ast.Node, text string, names ...string) {
	fmt.Fprintf(&p.out, "\n%s %s {#%s}\n", strings.Repeat("#", level), name, name)
	p.declaration(decl, text, names...)
}

// declaration writes the code of one, below anchors for the names in it, and its comment.
func (p *packagePrinter) declaration(decl ast.Node, text string, names ...string) {
	p.out.WriteString("\n")
	for _, name := range names {
		fmt.Fprintf(&p.out, "<a id=%q></a>", name)
	}
	p.out.WriteString("\n\n```go\n")
	if err := format.Node(&p.out, p.set, decl); err != nil {
		p.err = err
	}
	p.out.WriteString("\n```\n\n")
	p.out.Write(p.markdown.Markdown(p.pkg.Parser().Parse(text)))
}

// members are the names of a type's fields, or of an interface's methods, as links have them.
func members(t *doc.Type) (names []string) {
	for _, spec := range t.Decl.Specs {
		spec, ok := spec.(*ast.TypeSpec)
		if !ok || spec.Name.Name != t.Name {
			continue
		}
		var fields *ast.FieldList
		switch of := spec.Type.(type) {
		case *ast.StructType:
			fields = of.Fields
		case *ast.InterfaceType:
			fields = of.Methods
		default:
			continue
		}
		for _, field := range fields.List {
			for _, name := range field.Names {
				names = append(names, t.Name+"."+name.Name)
			}
		}
	}
	return names
}
