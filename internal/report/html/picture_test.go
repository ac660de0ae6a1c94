package html

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"slices"
	"testing"
)

// shrink encodes a picture again with its 256 commonest colours: text on flat ground needs no more, and
// the file is a third of the size.
func shrink(t *testing.T, data []byte) []byte {
	t.Helper()
	im, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	small := image.NewPaletted(im.Bounds(), commonest(im, 256))
	draw.Draw(small, small.Bounds(), im, im.Bounds().Min, draw.Src)
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestCompression}
	if err := enc.Encode(&b, small); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func commonest(im image.Image, n int) color.Palette {
	counts := map[color.RGBA]int{}
	box := im.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			counts[color.RGBAModel.Convert(im.At(x, y)).(color.RGBA)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(counts[b]-counts[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	var p color.Palette
	for _, c := range colours[:min(n, len(colours))] {
		p = append(p, c)
	}
	return p
}
