"""The explorable Banks with its slider at two places, neither of which answers its question."""

import numpy as np
from matplotlib.patches import FancyBboxPatch, Rectangle

from .shared import BLUE, GREY, RED, canvas, save, styled, wheel

BANKS, COLUMN = 32, 5  # of shared memory; the column that the warp reads


@styled
def draw(stem):
    figure, [panels] = canvas(7, 3.6, 1, 2, left=0.12, right=0.12, bottom=0.4, top=0.85, wspace=0.3)
    figure.text(0.5, 0.93, "A warp reads a column of the tile in 32 wavefronts. Which padding makes it 1?",
                ha="center", fontsize=10.5, fontweight="bold")
    for axes, pad, colour in zip(panels, (0, 4), (RED, BLUE)):
        bank = (np.arange(32)[:, None] * (32 + pad) + np.arange(32)) % BANKS
        wavefronts = np.bincount(bank[:, COLUMN]).max()
        axes.imshow(wheel(BANKS)(bank)[:, :, :3], interpolation="nearest", extent=(0, 32, 32, 0), aspect="auto")
        axes.add_patch(Rectangle((32, 0), pad, 32, fill=False, ec=GREY, lw=0.5, hatch="////"))
        axes.add_patch(Rectangle((COLUMN, 0), 1, 32, fill=False, ec="black", lw=1.8))
        for row in range(0, 32, 8):  # lanes that meet with either padding
            axes.text(COLUMN + 1.4, row + 0.6, f"bank {bank[row, COLUMN]}", va="center", fontsize=7.5)
        axes.add_patch(FancyBboxPatch((0, -4.9), 36, 3.7, boxstyle="round,pad=0,rounding_size=0.8", fill=False, ec=GREY,
                                      lw=0.7, clip_on=False))
        axes.plot([1, 9], [-3, -3], color=GREY, lw=2.5, clip_on=False)
        axes.plot([1 + pad], [-3], "o", color=BLUE, ms=9, clip_on=False)
        axes.text(10.2, -2.95, f"padding: {pad}", va="center")
        axes.text(35, -2.95, f"{wavefronts} wavefronts", ha="right", va="center", fontweight="bold", color=colour)
        axes.set(xlim=(0, 36), ylim=(32, 0))
        axes.axis("off")
    save(figure, stem, "32 rows of 32 words. Colour: the bank. Framed: the column. Hatched: the padding.")
